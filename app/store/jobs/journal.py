"""The journal of a step that is not committed yet. Payloads are read back exactly as written."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.schema.journal import JournalTable as Table

Entry = tuple[str, str, dict[str, Any]]
"""Key, sha256 of the request, payload."""


class JournalStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def get_many(self, job_id: str, step: int) -> dict[str, tuple[str, dict[str, Any]]]:
        """Returns the entries of one step by key."""
        rows = await self._session.scalars(
            select(Table).where(Table.job_id == job_id, Table.step == step)
        )
        return {row.key: (row.request_sha256, row.payload) for row in rows}

    async def put_many(self, job_id: str, step: int, entries: Sequence[Entry]) -> None:
        """Writes entries; overwrites an existing key, and the last of two equal keys counts."""
        if not entries:
            return
        values = [
            {
                "project_id": self._project_id,
                "job_id": job_id,
                "step": step,
                "key": key,
                "request_sha256": sha256,
                "payload": payload,
            }
            for key, sha256, payload in entries
        ]
        query = insert(Table)
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[Table.job_id, Table.key],
                set_={
                    "request_sha256": query.excluded.request_sha256,
                    "payload": query.excluded.payload,
                    "step": query.excluded.step,
                },
            ),
            values,
        )

    async def forget(self, job_id: str, upto_step: int) -> None:
        await self._session.execute(
            delete(Table).where(Table.job_id == job_id, Table.step <= upto_step)
        )

    async def forget_all(self, job_id: str) -> None:
        """Deletes the journal of a job that ends."""
        await self._session.execute(delete(Table).where(Table.job_id == job_id))
