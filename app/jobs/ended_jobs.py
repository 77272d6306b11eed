"""Finds ended jobs with rows or objects that nothing refers to any more, and removes the rows.

A job is found if a worker had claimed it, or if it, a model, checkpoints or rollouts of it were
deleted since. The caller removes the objects before it calls `finish`; after an interruption the
job is found again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, exists, func, inspect, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.across_tenants import set_tenant
from app.jobs.event_store import CheckpointStore
from app.jobs.jobs import ENDED, JobStatus
from app.jobs.rows import JournalStore
from app.jobs.tables import (
    CheckpointTable,
    JobEventTable,
    JobMetricBlockTable,
    JobMetricTable,
    ReportTable,
)
from app.jobs.tables import FineTuningJobTable as Job
from app.kit.sql import Base
from app.models.export_store import model_dropped
from app.models.tables import TunedModelTable as Model
from app.rollouts.tables import RolloutTable

_CHILDREN: Final[tuple[type[Base], ...]] = (
    RolloutTable,
    JobEventTable,
    JobMetricTable,
    JobMetricBlockTable,
    CheckpointTable,
    ReportTable,
)
"""Tables with rows that are removed with a job. Its models are removed with its own row; its eval
was already deleted by the request.
"""


@dataclass(frozen=True, slots=True)
class EndedJob:
    """An ended job that may still have rows or objects to remove."""

    project_id: str
    job_id: str
    adapters: frozenset[str]
    """Object keys of adapters to which a model, a checkpoint or the ended job still refers."""
    removed_models: tuple[str, ...] = ()
    """Engine names of models that can no longer be called."""
    deleted: bool = False
    rollouts_deleted: bool = False
    clean_after: datetime | None = None
    """The row's value when it was read."""

    @property
    def loses_rollouts(self) -> bool:
        return self.deleted or self.rollouts_deleted


class EndedJobStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def unclean(self, limit: int, *, settled_s: float) -> list[EndedJob]:
        """Returns jobs that may have rows or objects to remove, and that ended so long ago that
        none of their claims still runs.
        """
        rows = await self._session.execute(
            select(
                *(Job.project_id, Job.id, Job.status, Job.adapter_key, Job.clean_after),
                Job.deleted_at.is_not(None).label("deleted"),
                Job.rollouts_deleted_at.is_not(None).label("rollouts_deleted"),
            )
            .where(
                Job.status.in_(ENDED),
                or_(Job.lease_owner.is_not(None), Job.clean_after <= func.now()),
                Job.finished_at <= func.now() - timedelta(seconds=settled_s),
            )
            .order_by(Job.finished_at, Job.id)
            .limit(limit)
        )
        return [await self._ended(row) for row in rows.all()]

    async def _ended(self, row: Any) -> EndedJob:
        await set_tenant(self._session, row.project_id)
        models = await self._session.execute(
            select(Model.object_key, Model.engine_name, _removed().label("removed")).where(
                Model.job_id == row.id
            )
        )
        known = models.all()
        adapters = {model.object_key for model in known if not model.removed}
        if not row.deleted:
            adapters |= await CheckpointStore(self._session, row.project_id).object_keys(row.id)
            if row.status != JobStatus.SUCCEEDED.value and row.adapter_key is not None:
                adapters.add(row.adapter_key)
        return EndedJob(
            row.project_id,
            row.id,
            frozenset(adapters),
            removed_models=tuple(model.engine_name for model in known if model.removed),
            deleted=row.deleted,
            rollouts_deleted=row.rollouts_deleted,
            clean_after=row.clean_after,
        )

    async def remove_rollouts(self, job: EndedJob, limit: int) -> int:
        """Removes at most `limit` rollouts. Returns their number."""
        await set_tenant(self._session, job.project_id)
        return await self._remove(RolloutTable, job, limit)

    async def remove_children(self, job: EndedJob, limit: int) -> int:
        """Removes at most `limit` rows that belong to a deleted job. Returns their number."""
        await set_tenant(self._session, job.project_id)
        removed = 0
        for table in _CHILDREN:
            removed += await self._remove(table, job, limit - removed)
        return removed

    async def finish(self, job: EndedJob, *, unloaded: bool, keep_s: float) -> bool:
        """Removes the journal of the job and, once its adapters are `unloaded`, the rows that refer
        to them. `unclean` then no longer returns the job, unless something was deleted meanwhile.

        The row of a deleted job stays for `keep_s`, so that a list can continue paging after it,
        and as long as its published model. Returns whether the row was removed.
        """
        await set_tenant(self._session, job.project_id)
        await JournalStore(self._session, job.project_id).forget_all(job.job_id)
        if not unloaded:
            return False
        if not job.deleted:
            await self._settle(job, clean_after=None)
            return False
        living = exists(select(Model.name).where(Model.job_id == job.job_id, ~_removed()))
        if await self._session.scalar(select(living)):
            await self._settle(job, clean_after=None)
            return False
        due = Job.deleted_at + timedelta(seconds=keep_s)
        removed = await self._session.scalar(
            delete(Job).where(*self._unchanged(job), due <= func.now()).returning(Job.id)
        )
        if removed is None:
            await self._settle(job, clean_after=due)
        return removed is not None

    async def postpone(self, job: EndedJob, seconds: float) -> None:
        """Makes `unclean` return the job again after some time, when files of it could not be
        removed: others come first until then.
        """
        await set_tenant(self._session, job.project_id)
        await self._settle(job, clean_after=func.now() + timedelta(seconds=seconds))

    async def _settle(self, job: EndedJob, *, clean_after: Any) -> None:
        await self._session.execute(
            update(Job)
            .where(*self._unchanged(job))
            .values(lease_owner=None, clean_after=clean_after)
        )

    @staticmethod
    def _unchanged(job: EndedJob) -> Sequence[ColumnElement[bool]]:
        return (
            Job.project_id == job.project_id,
            Job.id == job.job_id,
            Job.status.in_(ENDED),
            Job.clean_after.is_not_distinct_from(job.clean_after),
        )

    async def _remove(self, table: type[Base], job: EndedJob, limit: int) -> int:
        key = inspect(table).primary_key
        some = select(*key).where(
            table.__table__.c.project_id == job.project_id,
            table.__table__.c.job_id == job.job_id,
        )
        removed = await self._session.execute(
            delete(table).where(tuple_(*key).in_(some.limit(limit))).returning(key[0])
        )
        return len(removed.all())


def _removed() -> ColumnElement[bool]:
    """Returns the condition that the model can no longer be called."""
    return or_(Model.deleted_at.is_not(None), model_dropped())
