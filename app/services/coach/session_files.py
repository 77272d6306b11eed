"""The files of a session: their slices of the rows, and the files that it writes for its jobs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.domain.accounts.tenants import Tenant
from app.domain.coach.sessions import CoachSession
from app.services.coach.practice_files import (
    HeldOut,
    JsonRow,
    held_out,
    prompted_rows,
    rows_to_practise,
)
from app.services.files.inspections import Inspections
from app.services.files.row_files import RowFiles
from app.store.database import Database


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
        """Writes the training rows of some slices as a file. Returns its id."""
        async with self._copies(session.training_file, session.validation_file) as paths:
            rows = await self.inspections.run(self.tenant, rows_to_practise, *paths, keys)
        return await self._write(rows, f"practice-{session.progress.round + 1}.jsonl")

    async def prompted_file(self, session: CoachSession, prompt: str) -> str:
        """Writes the held-out rows with another system prompt as a file. Returns its id."""
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
