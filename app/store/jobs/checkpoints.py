"""Checkpoints as rows, newest first."""

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.jobs.jobs import Checkpoint
from app.store.models.dropped_checkpoints import checkpoint_dropped
from app.store.models.models_in_use import checkpoint_in_use
from app.store.paging import Keyset
from app.store.schema.checkpoints import CheckpointTable as Table
from app.store.storable import storable
from app.store.times import unix

_NEWEST_FIRST = Keyset((Table.step,), descending=True)


class CheckpointStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, checkpoint: Checkpoint, *, object_key: str) -> None:
        """Inserts the checkpoint of a step; does nothing when the step has one already."""
        await self._session.execute(
            insert(Table)
            .values(
                id=checkpoint.id,
                project_id=self._project_id,
                job_id=checkpoint.job_id,
                step=checkpoint.step,
                model_name=checkpoint.model_name,
                object_key=object_key,
                metrics=storable(checkpoint.metrics),
            )
            .on_conflict_do_nothing(index_elements=[Table.job_id, Table.step])
        )

    async def object_keys(self, job_id: str) -> frozenset[str]:
        """Returns the object keys of the adapters that must not be deleted."""
        return frozenset((await self.kept(job_id)).values())

    async def kept(self, job_id: str) -> dict[int, str]:
        """Maps the step of each checkpoint that was not dropped to its adapter's object key."""
        query = select(Table.step, Table.object_key).where(
            Table.job_id == job_id, ~checkpoint_dropped()
        )
        return {row.step: row.object_key for row in await self._session.execute(query)}

    async def all(self, job_id: str) -> list[Checkpoint]:
        """Returns all checkpoints by step, including dropped ones."""
        query = select(Table).where(Table.job_id == job_id).order_by(Table.step)
        return [_to_checkpoint(row) for row in await self._session.scalars(query)]

    async def needed(self, job_id: str) -> frozenset[int]:
        """Returns the steps whose models are in use by another project, a job or an eval."""
        query = select(Table.step).where(Table.job_id == job_id, checkpoint_in_use())
        return frozenset(await self._session.scalars(query))

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        """Leaves out dropped checkpoints; a page may still begin after one."""
        page, more = await _NEWEST_FIRST.page(
            self._session,
            select(Table).where(Table.job_id == job_id, ~checkpoint_dropped()),
            after=after,
            cursor=[Table.id == after, Table.job_id == job_id],
            limit=limit,
        )
        return [_to_checkpoint(row) for row in page], more


def _to_checkpoint(row: Table) -> Checkpoint:
    return Checkpoint(
        id=row.id,
        job_id=row.job_id,
        step=row.step,
        created_at=unix(row.created_at),
        model_name=row.model_name,
        metrics=row.metrics,
    )
