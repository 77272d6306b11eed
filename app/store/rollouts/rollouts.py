"""Rollouts as rows. Inserting a sample that exists already is an error."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound
from app.domain.ids import Split
from app.domain.rollouts.rollouts import RolloutRow
from app.store.paging import Keyset
from app.store.schema.rollouts import RolloutTable as Table
from app.store.storable import storable

_ORDER = Keyset((Table.split, Table.step, Table.prompt_index, Table.sample_index, Table.attempt))
_FIELDS = tuple(field.name for field in fields(RolloutRow))


class RolloutStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert_many(self, job_id: str, rows: Sequence[RolloutRow]) -> None:
        if rows:
            values = [_values(row, project_id=self._project_id, job_id=job_id) for row in rows]
            await self._session.execute(insert(Table), values)

    async def page(
        self,
        job_id: str,
        *,
        split: Split | None,
        step: int | None,
        after: str | None,
        limit: int,
    ) -> tuple[list[RolloutRow], bool]:
        """Returns a page in the order of split, step, prompt, sample and attempt."""
        query = select(Table).where(Table.job_id == job_id)
        if split is not None:
            query = query.where(Table.split == split)
        if step is not None:
            query = query.where(Table.step == step)
        page, more = await _ORDER.page(
            self._session,
            query,
            after=after,
            cursor=[Table.id == after, Table.job_id == job_id],
            limit=limit,
        )
        return [to_rollout(row) for row in page], more

    async def get(self, job_id: str, rollout_id: str) -> RolloutRow:
        row = await self._session.scalar(
            select(Table).where(Table.id == rollout_id, Table.job_id == job_id)
        )
        if row is None:
            raise NotFound(f"No rollout {rollout_id} in job {job_id}.")
        return to_rollout(row)


def _values(row: RolloutRow, *, project_id: str, job_id: str) -> dict[str, Any]:
    values = asdict(row) | {"project_id": project_id, "job_id": job_id}
    for name in ("failure_message", "components", "trace"):
        values[name] = storable(values[name])
    return values


def to_rollout(row: Table) -> RolloutRow:
    return RolloutRow(**{name: getattr(row, name) for name in _FIELDS})
