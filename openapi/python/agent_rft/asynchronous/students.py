"""A student: an agent with a name, taught by jobs, whose skills pass a gate."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Self, overload

from typing_extensions import override

from agent_rft.arguments import body as body_of
from agent_rft.arguments import id_or, mapping, texts
from agent_rft.asynchronous.client import AsyncAgentRFT
from agent_rft.asynchronous.coach import AsyncCoach
from agent_rft.asynchronous.curricula import AsyncCurriculum
from agent_rft.asynchronous.jobs import AsyncTrainingJob
from agent_rft.asynchronous.plans import AsyncImprovementPlan, planned
from agent_rft.defaults import default_async_client
from agent_rft.presentation import Presentation, warn_of
from agent_rft.replies import Reply
from agent_rft_client.api.students import (
    chat_with_student,
    create_student,
    delete_student,
    get_student,
    improve_student,
    list_skills,
    list_students,
    promote_skill,
    propose_skill,
    roll_back_skill,
    update_student,
)
from agent_rft_client.models.chat_completion import ChatCompletion
from agent_rft_client.models.create_student import CreateStudent
from agent_rft_client.models.improve_student import ImproveStudent
from agent_rft_client.models.promote_skill import PromoteSkill
from agent_rft_client.models.propose_skill import ProposeSkill
from agent_rft_client.models.roll_back_skill import RollBackSkill
from agent_rft_client.models.skill_object import SkillObject
from agent_rft_client.models.student_chat import StudentChat
from agent_rft_client.models.student_deleted import StudentDeleted
from agent_rft_client.models.student_improvement import StudentImprovement
from agent_rft_client.models.student_object import StudentObject
from agent_rft_client.models.update_student import UpdateStudent


class AsyncSkill(Presentation):
    """Shows what a job taught, with the gate's decision. `body` is the service's description."""

    def __init__(self, client: AsyncAgentRFT, body: SkillObject) -> None:
        self._client, self.body = client, body

    @property
    def id(self) -> str:
        return self.body.id

    @property
    def status(self) -> str:
        """`running`, `passed` or `held`; `body.reason` says why it is held."""
        return self.body.status

    async def wait(self, *, timeout_s: float | None = None, poll_s: float = 2.0) -> Self:
        """Returns once the gate has decided; raises `TimeoutError` when that takes longer."""
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        while self.status == "running":
            if give_up_at is not None and time.monotonic() > give_up_at:
                raise TimeoutError(f"the gate has not decided about {self.id} yet")
            await self._client.pause(poll_s)
            async for skill in self._client.pages(
                list_skills.asyncio, SkillObject, self.body.student
            ):
                if skill.id == self.id:
                    self.body = skill
                    break
        return self

    @override
    def facts(self) -> Mapping[str, object]:
        return {
            "id": self.id,
            "student": self.body.student,
            "status": self.status,
            "reason": self.body.reason,
            "model": self.body.model,
        }


class AsyncStudent(Presentation):
    """Shows a student. `body` is the student as the service describes it."""

    def __init__(self, client: AsyncAgentRFT, body: StudentObject) -> None:
        self._client, self.body = client, body

    @classmethod
    async def create(
        cls,
        name: str,
        base_model: str,
        *,
        regression_evals: Sequence[str] = (),
        client: AsyncAgentRFT | None = None,
    ) -> Self:
        """Makes a student. `regression_evals` are ids of evals with a run: without one, the gate
        holds every skill.
        """
        client = client or default_async_client()
        body = CreateStudent(name, base_model, texts("regression_evals", regression_evals))
        return cls(client, await client.call(create_student.asyncio, StudentObject, body=body))

    @classmethod
    async def get(cls, name: str, *, client: AsyncAgentRFT | None = None) -> Self:
        client = client or default_async_client()
        return cls(client, await client.call(get_student.asyncio, StudentObject, name))

    @classmethod
    async def all(cls, *, client: AsyncAgentRFT | None = None) -> AsyncIterator[Self]:
        """Yields the students of the project, newest first."""
        client = client or default_async_client()
        async for body in client.pages(list_students.asyncio, StudentObject):
            yield cls(client, body)

    @property
    def name(self) -> str:
        return self.body.name

    @property
    def model(self) -> str:
        """Name under which any OpenAI client calls the student."""
        return f"student:{self.name}"

    async def chat(
        self, messages: str | Sequence[Mapping[str, Any]], *, store: bool = False, **options: Any
    ) -> Reply:
        """Returns the answer of the version that answers now to a question or a conversation, with
        its instructions if there are none in it, at temperature 0 unless `options` have another.

        `store` keeps it, so that feedback can name it; `options` are those of a chat completion.
        """
        if options.get("stream"):
            raise ValueError(
                "chat() returns the whole answer: leave 'stream' out, or stream with an OpenAI "
                f"client and the model '{self.model}'"
            )
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        given = {"messages": [dict(message) for message in messages], "store": store, **options}
        body = body_of(StudentChat, given)
        call = chat_with_student.asyncio
        answer = await self._client.call(call, ChatCompletion, self.name, body=body)
        return Reply(answer, stored=store)

    @overload
    async def improve(
        self,
        curriculum: AsyncCurriculum | str | None = None,
        plan: AsyncImprovementPlan | None = None,
        *,
        coach: Literal[False] | None = None,
        **parts: Any,
    ) -> AsyncTrainingJob: ...

    @overload
    async def improve(
        self,
        curriculum: AsyncCurriculum | str | None = None,
        plan: AsyncImprovementPlan | None = None,
        *,
        coach: Literal[True] | Mapping[str, Any],
        **parts: Any,
    ) -> AsyncCoach: ...

    async def improve(
        self,
        curriculum: AsyncCurriculum | str | None = None,
        plan: AsyncImprovementPlan | None = None,
        *,
        coach: bool | Mapping[str, Any] | None = None,
        **parts: Any,
    ) -> AsyncTrainingJob | AsyncCoach:
        """Starts a job that trains the model that answers now, or a session of the Coach.

        `curriculum` is one of the project or its id; `parts` are those of the call: `grader`,
        `tools`, `seed`, `training_file` and others. `coach` has the options of a session, such as
        `{"target": 0.9, "budget": {"jobs": 4}}`; `True` takes their defaults.
        """
        if curriculum is not None:
            parts["curriculum"] = {"id": id_or(AsyncCurriculum, curriculum, "curriculum")}
        if coach is not None and coach is not False:
            choices = {} if coach is True else coach
            parts["coach"] = mapping("coach", choices, "{'budget': {'jobs': 4}}")
        body = body_of(ImproveStudent, planned(plan, parts))
        call = improve_student.asyncio
        made = await self._client.call(call, StudentImprovement, self.name, body=body)
        warn_of(made.plan)
        if made.job is not None:
            return AsyncTrainingJob(self._client, made.job)
        if made.coach_session is not None:
            return AsyncCoach(self._client, made.coach_session)
        raise ValueError("the service has started neither a job nor a session")

    async def coach(
        self,
        curriculum: AsyncCurriculum | str | None = None,
        plan: AsyncImprovementPlan | None = None,
        **parts: Any,
    ) -> AsyncCoach:
        """Starts a session of the Coach, which improves the student by itself.

        `parts` are those of `Coach.start`: `budget`, `prompts`, `target`, `grader` and others.
        """
        return await AsyncCoach.start(self.name, curriculum, plan, client=self._client, **parts)

    async def propose(self, job: AsyncTrainingJob | str) -> AsyncSkill:
        """Sends the model of a job through the gate."""
        body = ProposeSkill(id_or(AsyncTrainingJob, job, "job"))
        call = propose_skill.asyncio
        return AsyncSkill(
            self._client, await self._client.call(call, SkillObject, self.name, body=body)
        )

    async def skills(self) -> AsyncIterator[AsyncSkill]:
        """Yields its skills with the gate's decisions, newest first."""
        async for body in self._client.pages(list_skills.asyncio, SkillObject, self.name):
            yield AsyncSkill(self._client, body)

    async def promote(self, skill: AsyncSkill | str) -> Self:
        """Lets a skill that passed the gate answer; `BadRequestError` says why one may not."""
        body = PromoteSkill(id_or(AsyncSkill, skill, "skill"))
        call = promote_skill.asyncio
        self.body = await self._client.call(call, StudentObject, self.name, body=body)
        return self

    async def roll_back(self, skill: AsyncSkill | str | None = None) -> Self:
        """Lets an earlier skill answer again, or the base model when none is given."""
        body = RollBackSkill(None if skill is None else id_or(AsyncSkill, skill, "skill"))
        call = roll_back_skill.asyncio
        self.body = await self._client.call(call, StudentObject, self.name, body=body)
        return self

    async def set_regression_evals(self, regression_evals: Sequence[str]) -> Self:
        """Replaces the evals that the gate runs; each of them has a run."""
        body = UpdateStudent(texts("regression_evals", regression_evals))
        call = update_student.asyncio
        self.body = await self._client.call(call, StudentObject, self.name, body=body)
        return self

    async def instruct(self, instructions: str | None) -> Self:
        """Instructs the version that answers; `None` brings back those of its examples."""
        body = UpdateStudent(instructions=instructions)
        call = update_student.asyncio
        self.body = await self._client.call(call, StudentObject, self.name, body=body)
        return self

    async def refresh(self) -> Self:
        self.body = await self._client.call(get_student.asyncio, StudentObject, self.name)
        return self

    async def delete(self) -> None:
        await self._client.call(delete_student.asyncio, StudentDeleted, self.name)

    @override
    def facts(self) -> Mapping[str, object]:
        return {
            "name": self.name,
            "base_model": self.body.base_model,
            "current_skill": self.body.current_skill,
            "regression_evals": [rows.eval_id for rows in self.body.regression_sets],
        }
