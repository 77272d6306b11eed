"""The Coach: a session that improves a student by itself, and its logbook."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from typing_extensions import override

from agent_rft.arguments import body as body_of
from agent_rft.arguments import id_or, mapping, texts
from agent_rft.defaults import default_client
from agent_rft.errors import TrainingEnded
from agent_rft.presentation import Presentation
from agent_rft.synchronous.client import AgentRFT
from agent_rft.synchronous.curricula import Curriculum
from agent_rft.synchronous.plans import ImprovementPlan, planned
from agent_rft_client.api.coach import (
    cancel_coach_session,
    create_coach_session,
    get_coach_session,
    list_coach_entries,
    list_coach_sessions,
    pause_coach_session,
    resume_coach_session,
)
from agent_rft_client.models.coach_entry import CoachEntry
from agent_rft_client.models.coach_session_object import CoachSessionObject
from agent_rft_client.models.create_coach_session import CreateCoachSession

ENDED = frozenset({"completed", "failed", "cancelled"})


class Coach(Presentation):
    """Shows a session of the Coach. `body` is the session as the service describes it."""

    def __init__(self, client: AgentRFT, body: CoachSessionObject) -> None:
        self._client, self.body = client, body

    @classmethod
    def start(
        cls,
        student: object,
        curriculum: Curriculum | str | None = None,
        plan: ImprovementPlan | None = None,
        *,
        budget: Mapping[str, float] | None = None,
        prompts: Sequence[str] = (),
        client: AgentRFT | None = None,
        **parts: Any,
    ) -> Self:
        """Starts a session for a student or the name of one.

        `budget` limits `jobs`, `rollouts`, `tokens` and `seconds`; `parts` are the other parts of
        the call: `promote`, `target`, `samples`, `grader`, `tools` and others.
        """
        client = client or default_client()
        if curriculum is not None:
            parts["curriculum"] = {"id": id_or(Curriculum, curriculum, "curriculum")}
        if budget is not None:
            parts["budget"] = mapping("budget", budget, "{'jobs': 4}")
        name = student if isinstance(student, str) else getattr(student, "name", None)
        if not isinstance(name, str):
            raise TypeError(f"a student is an object of this client or its name, not {student!r}")
        sent = {**planned(plan, parts), "student": name, "prompts": texts("prompts", prompts)}
        body = body_of(CreateCoachSession, sent)
        call = create_coach_session.sync
        return cls(client, client.call(call, CoachSessionObject, body=body))

    @classmethod
    def get(cls, session_id: str, *, client: AgentRFT | None = None) -> Self:
        client = client or default_client()
        return cls(client, client.call(get_coach_session.sync, CoachSessionObject, session_id))

    @classmethod
    def all(cls, *, student: str | None = None, client: AgentRFT | None = None) -> Iterator[Self]:
        """Yields the sessions of the project, or of one student, newest first."""
        client = client or default_client()
        given = {} if student is None else {"student": student}
        for body in client.pages(list_coach_sessions.sync, CoachSessionObject, **given):
            yield cls(client, body)

    @property
    def id(self) -> str:
        return self.body.id

    @property
    def status(self) -> str:
        """`running`, `paused`, `completed`, `failed` or `cancelled`; `body.outcome` says why."""
        return self.body.status

    def logbook(self, *, after: int = 0) -> Iterator[CoachEntry]:
        """Yields the entries behind number `after`, in their order."""
        for entry in self._client.pages(list_coach_entries.sync, CoachEntry, self.id, after=after):
            yield entry

    def wait(
        self,
        *,
        report: Callable[[str], object] | None = print,
        timeout_s: float | None = None,
        poll_s: float = 2.0,
    ) -> Self:
        """Returns once the session has ended or is paused; `report` gets each entry of the logbook.

        Raises `TrainingEnded` when it failed or was cancelled, `TimeoutError` after `timeout_s`.
        """
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        last = 0
        while True:
            self.refresh()
            stopped = self.status in ENDED or self.status == "paused"
            for entry in self.logbook(after=last):
                last = entry.number
                if report is not None:
                    report(entry.text)
            if stopped:
                break
            if give_up_at is not None and time.monotonic() > give_up_at:
                raise TimeoutError(f"{self.id} is still {self.status}")
            self._client.pause(poll_s)
        if self.status in {"failed", "cancelled"}:
            raise TrainingEnded(self.id, self.status, self.body.reason)
        return self

    def refresh(self) -> Self:
        return self._do(get_coach_session.sync)

    def pause(self) -> Self:
        """Lets the session start nothing more; a job that runs continues to its end."""
        return self._do(pause_coach_session.sync)

    def resume(self) -> Self:
        return self._do(resume_coach_session.sync)

    def cancel(self) -> Self:
        """Ends the session with the job or the gate that it waits for."""
        return self._do(cancel_coach_session.sync)

    def _do(self, call: Any) -> Self:
        self.body = self._client.call(call, CoachSessionObject, self.id)
        return self

    @override
    def facts(self) -> Mapping[str, object]:
        return {
            "id": self.id,
            "student": self.body.student,
            "status": self.status,
            "outcome": self.body.outcome,
            "mean": self.body.mean,
            "reason": self.body.reason,
        }
