"""Makes the jobs of a session: those that measure, and those that train.

A job that measures samples the held-out rows once, as any reinforcement job does before its first
step, and is capped so that it pauses there. Its tools, grader and environment are those of
training, so that both mean the same score.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from app.domain.coach.sessions import CoachSession
from app.domain.jobs.job_secrets import restored_method
from app.domain.jobs.jobs import Job, NewJob
from app.domain.jobs.usage import NO_CAPS, Caps
from app.domain.methods.method_documents import StoredReinforcementMethod
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.students.students import PREFIX
from app.gateways.secrets import SecretBox
from app.services.coach.session_files import SessionFiles
from app.services.jobs.creation.creation import JobCreationService

_BASELINE_ONLY: Final = Caps(max_rollouts=1)
"""The rollouts before the first step are already more, so the job pauses before that step."""
SESSION_KEY: Final = "coach_session"


@dataclass(frozen=True, slots=True)
class ChildJobs:
    creation: JobCreationService
    files: SessionFiles
    secret_box: SecretBox
    project_id: str

    async def measure(self, session: CoachSession, sealed: bytes | None, prompt: str | None) -> Job:
        """Makes a job that samples the held-out rows of the student's model, with another system
        prompt if one is given, and trains nothing.
        """
        options = self._options(session, sealed)
        options["hyperparameters"] |= {"eval_greedy": False, "n_epochs": 1}
        options["nothing_to_learn"] = {"action": "off"}
        validation, role = session.validation_file, "measure"
        if prompt is not None:
            validation = await self.files.prompted_file(session, prompt)
            role = f"prompt {len(session.progress.tried) + 1}"
        return await self._create(
            session,
            options,
            files=(session.training_file, validation),
            caps=_BASELINE_ONLY,
            role=role,
        )

    async def train(
        self, session: CoachSession, sealed: bytes | None, *, keys: tuple[str, ...], caps: Caps
    ) -> Job:
        """Makes a job that practises slices of the rows, from the model that answers now."""
        training = await self.files.practice_file(session, keys)
        return await self._create(
            session,
            self._options(session, sealed),
            files=(training, session.validation_file),
            caps=caps,
            role=f"round {session.progress.round + 1}",
        )

    def _options(self, session: CoachSession, sealed: bytes | None) -> dict[str, Any]:
        document = deepcopy(dict(session.method))
        opened = (
            {}
            if sealed is None
            else self.secret_box.open(sealed, project_id=self.project_id, row_id=session.id)
        )
        whole = restored_method(document, opened)
        options: dict[str, Any] = whole[ReinforcementMethod.kind]
        sent = options.get("hyperparameters") or {}
        options["hyperparameters"] = {**sent, "eval_samples": session.options.samples}
        return options

    async def _create(
        self,
        session: CoachSession,
        options: dict[str, Any],
        *,
        files: tuple[str, str],
        caps: Caps = NO_CAPS,
        role: str,
    ) -> Job:
        kind = ReinforcementMethod.kind
        method = StoredReinforcementMethod({"type": kind, kind: options}).parse()
        return await self.creation.create_resolved(
            NewJob(
                model=f"{PREFIX}{session.student}",
                training_file=files[0],
                validation_file=files[1],
                method=method,
                caps=caps,
                seed=session.options.seed,
                suffix=session.options.suffix,
                metadata={SESSION_KEY: session.id, "coach_role": role},
            )
        )
