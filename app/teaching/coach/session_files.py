"""The files of a session: their slices of the rows, and the files that it writes for its jobs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final

from app.database import Database
from app.files.conversations import INSTRUCTIONS
from app.files.row_files import Inspections, RowFiles
from app.files.rows import json_rows
from app.jobs.creation import JobCreationService
from app.jobs.jobs import Caps, Job, NewJob
from app.jobs.methods import StoredReinforcementMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.results import restored_method
from app.kit.callers import Tenant
from app.kit.sealing import SecretBox
from app.models.models import STUDENT_PREFIX
from app.teaching.coach.sessions import CoachSession, practice_rows
from app.teaching.coach.statistics import PracticeRow, practice_row
from app.teaching.coach.weaknesses import Slice, slices_of

JsonRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class HeldOut:
    count: int
    slices: tuple[Slice, ...]


def held_out(path: Path) -> HeldOut:
    rows = _practice_rows(path)
    return HeldOut(len(rows), tuple(slices_of(rows)))


def rows_to_practise(training: Path, validation: Path, keys: tuple[str, ...]) -> list[JsonRow]:
    wanted = set(
        practice_rows(keys, training=_practice_rows(training), held_out=_practice_rows(validation))
    )
    return [row for index, row in enumerate(json_rows(training)) if index in wanted]


def prompted_rows(path: Path, prompt: str) -> list[JsonRow]:
    own = {"role": "system", "content": prompt}

    def is_instruction(message: JsonRow) -> bool:
        return message.get("role") in INSTRUCTIONS

    return [
        {**row, "messages": [own, *dropwhile(is_instruction, row["messages"])]}
        for row in json_rows(path)
    ]


def _practice_rows(path: Path) -> list[PracticeRow]:
    return [practice_row(index, row) for index, row in enumerate(json_rows(path))]


@dataclass(frozen=True, slots=True)
class SessionFiles:
    database: Database
    inspections: Inspections
    row_files: RowFiles
    tenant: Tenant

    async def held_out(self, validation_file: str) -> HeldOut:
        """Raises `NotFound` for a deleted file, `Unavailable` while it cannot be read."""
        async with self._copies(validation_file) as paths:
            return await self.inspections.run(self.tenant, held_out, *paths)

    async def practice_file(self, session: CoachSession, keys: tuple[str, ...]) -> str:
        async with self._copies(session.training_file, session.validation_file) as paths:
            rows = await self.inspections.run(self.tenant, rows_to_practise, *paths, keys)
        return await self._write(rows, f"practice-{session.progress.round + 1}.jsonl")

    async def prompted_file(self, session: CoachSession, prompt: str) -> str:
        async with self._copies(session.validation_file) as paths:
            rows = await self.inspections.run(self.tenant, prompted_rows, *paths, prompt)
        return await self._write(rows, f"prompt-{len(session.progress.tried) + 1}.jsonl")

    async def _write(self, rows: list[JsonRow], name: str) -> str:
        return (await self.row_files.write(rows, name)).id

    @asynccontextmanager
    async def _copies(self, *file_ids: str) -> AsyncIterator[list[Path | None]]:
        async with self.database.tenant(self.tenant) as unit:
            keys = [(await unit.files.get(file_id)).object_key for file_id in file_ids]
        async with self.inspections.copies(keys) as paths:
            yield paths


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
        opened = {}
        if sealed is not None:
            opened = self.secret_box.open(sealed, project_id=self.project_id, row_id=session.id)
        options: dict[str, Any] = restored_method(document, opened)[ReinforcementMethod.kind]
        sent = options.get("hyperparameters") or {}
        options["hyperparameters"] = {**sent, "eval_samples": session.options.samples}
        return options

    async def _create(
        self,
        session: CoachSession,
        options: dict[str, Any],
        *,
        files: tuple[str, str],
        caps: Caps,
        role: str,
    ) -> Job:
        kind = ReinforcementMethod.kind
        method = StoredReinforcementMethod({"type": kind, kind: options}).parse()
        return await self.creation.create_resolved(
            NewJob(
                model=f"{STUDENT_PREFIX}{session.student}",
                training_file=files[0],
                validation_file=files[1],
                method=method,
                caps=caps,
                seed=session.options.seed,
                suffix=session.options.suffix,
                metadata={SESSION_KEY: session.id, "coach_role": role},
            )
        )
