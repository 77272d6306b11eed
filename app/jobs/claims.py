"""Jobs for the GPU plane: read without a lease, followed by trackers, claimed for all tenants."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import ColumnElement, delete, exists, func, inspect, or_, select, tuple_, update
from sqlalchemy.orm import aliased
from typing_extensions import override

from app.accounts.tables import ProjectTable
from app.across_tenants import ClaimUnitOfWork, CrossTenantUnitOfWork, set_tenant
from app.database import Database, ProjectUnitOfWork
from app.events.store import log_end
from app.jobs.jobs import ENDED, OPEN_JOBS, Job, JobStatus, StopRequest
from app.jobs.rows import CheckpointStore, EventStore, JournalStore, pause_job, to_job
from app.jobs.tables import (
    CheckpointTable,
    JobEventTable,
    JobMetricBlockTable,
    JobMetricTable,
    ReportTable,
)
from app.jobs.tables import FineTuningJobTable as Table
from app.kit.errors import NotFound
from app.kit.leases import WORKER_LOST, Lease, QueuedRows, is_unleased, lock_held
from app.kit.sql import Base, SessionRows
from app.models.export_store import model_dropped
from app.models.tables import TunedModelTable as Model
from app.rollouts.tables import RolloutTable


class JobReaderUnitOfWork(ProjectUnitOfWork):
    async def job(self, job_id: str) -> Job:
        query = select(Table).where(Table.id == job_id, Table.deleted_at.is_(None))
        row = await self._session.scalar(query)
        if row is None:
            raise NotFound(f"No job {job_id}.")
        return to_job(row)

    async def secrets(self, job_id: str) -> bytes | None:
        return await self._session.scalar(select(Table.secrets).where(Table.id == job_id))


def job_reader(database: Database, project_id: str) -> JobReaderUnitOfWork:
    return JobReaderUnitOfWork(database.sessions, {"app.project": project_id})


GIVE_UP_AFTER_S: Final = 24 * 3600.0
"""Seconds after the end of a job for which a tracker that fails is tried again."""


@dataclass(frozen=True, slots=True)
class TrackedJob:
    id: str
    project_id: str
    integrations: list[dict[str, Any]]
    has_ended: bool


class TrackedJobsUnitOfWork(CrossTenantUnitOfWork):
    async def jobs(self) -> list[TrackedJob]:
        recent = func.now() - timedelta(seconds=GIVE_UP_AFTER_S)
        query = select(
            Table.id, Table.project_id, Table.integrations, Table.finished_at.is_not(None)
        ).where(
            Table.deleted_at.is_(None),
            or_(Table.finished_at.is_(None), Table.finished_at > recent),
            func.jsonb_array_length(Table.integrations) > 0,
        )
        rows = await self._session.execute(query.order_by(Table.created_at, Table.id))
        return [TrackedJob(*row) for row in rows]


WAITS_FOR_WORKER: Final = "waits_for_worker"
"""Value of `reason` in the data of this event."""
WAITS_S: Final = 10.0
"""Seconds in the queue after which a job is told why."""
_LATE_S: Final = 60.0
"""Seconds more in which a sweep finds it, so that sweeps read no jobs that wait for hours."""
_MOST_TOLD: Final = 100


def _why_waiting(held: int, *, of_project: int, limit: int) -> str:
    if of_project >= limit:
        return f"The job waits: its project runs {of_project} of at most {limit} jobs at once."
    if not held:
        return "The job waits for a worker: none has taken it yet, and none runs another job."
    others = "another job" if held == 1 else "other jobs"
    verb = "runs" if held == 1 else "run"
    return f"The job waits for a worker: {held} of {held} {verb} {others}."


class ClaimableJobs(QueuedRows):
    table: ClassVar[type[Table]] = Table
    limit_column = "max_running_jobs"
    open_states = tuple(status.value for status in OPEN_JOBS)
    end_states = (JobStatus.SUCCEEDED.value, JobStatus.FAILED.value, JobStatus.PAUSED.value)

    @override
    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        """Writes the failed state and its event as the tenant, who owns both rows."""
        await set_tenant(self._session, lease.project_id)
        error: dict[str, Any] = {"code": WORKER_LOST, "message": message, "param": None}
        trained = await self._session.scalar(
            update(Table)
            .where(Table.id == lease.id, Table.fence == lease.fence)
            .values(status=JobStatus.FAILED.value, error=error, finished_at=func.now())
            .returning(Table.trained_tokens)
        )
        if not trained:
            needed = await CheckpointStore(self._session, lease.project_id).needed(lease.id)
            await self._session.execute(
                update(Table).where(Table.id == lease.id).values(kept_checkpoints=sorted(needed))
            )
        events = EventStore(self._session, lease.project_id)
        await events.append(lease.id, level="error", message=message)
        await log_end(
            self._session, lease.project_id, event_type="fine_tuning.job.failed", subject=lease.id
        )

    @override
    async def note(
        self, lease: Lease, reason: str, *, code: str, attempts: int, limit: int
    ) -> None:
        await set_tenant(self._session, lease.project_id)
        following = (
            "The job continues from its last committed step"
            if attempts < limit
            else "It was the last attempt"
        )
        await self._event(
            lease,
            f"{reason} {following} (attempt {attempts} of {limit}).",
            data={"error_code": code, "attempt": attempts},
        )

    @override
    async def tell_waiting(self, *, most_held: int) -> None:
        """Once for each job: the first time that it has waited for a while."""
        queued, own_limit = func.now() - Table.queued_at, ProjectTable.max_running_jobs
        held = select(func.count(Table.id)).where(self._is_open(), Table.lease_until >= func.now())
        of_project = aliased(Table)
        held_by_project = (
            select(func.count(of_project.id))
            .where(
                of_project.project_id == Table.project_id,
                of_project.status.in_(self.open_states),
                of_project.lease_until >= func.now(),
            )
            .correlate(Table)
        )
        waiting = (
            select(
                Table.id,
                Table.project_id,
                held.scalar_subquery().label("held"),
                held_by_project.scalar_subquery().label("of_project"),
                func.coalesce(own_limit, most_held).label("limit"),
            )
            .join(ProjectTable, ProjectTable.id == Table.project_id)
            .where(
                self._is_open(),
                is_unleased(Table),
                self._may_be_claimed_now(),
                queued.between(timedelta(seconds=WAITS_S), timedelta(seconds=WAITS_S + _LATE_S)),
            )
            .order_by(Table.queued_at)
            .limit(_MOST_TOLD)
        )
        for row in (await self._session.execute(waiting)).all():
            await set_tenant(self._session, row.project_id)
            await EventStore(self._session, row.project_id).append_once(
                row.id,
                level="info",
                message=_why_waiting(row.held, of_project=row.of_project, limit=row.limit),
                about=WAITS_FOR_WORKER,
                data={"reason": WAITS_FOR_WORKER},
            )

    @override
    async def pause_requested(self, lease: Lease) -> bool:
        request = await self._session.scalar(
            select(Table.stop_request).where(Table.id == lease.id, Table.fence == lease.fence)
        )
        return request == StopRequest.PAUSE.value

    @override
    async def pause(self, lease: Lease, reason: str) -> None:
        await lock_held(self._session, Table, lease, states=self.open_states)
        await set_tenant(self._session, lease.project_id)
        await self._event(
            lease,
            f"Fine-tuning job paused in the middle of a step: {reason} Nothing that was committed "
            "is lost; a resume repeats the step with the answers that it has stored.",
            data={"error_code": "run_hung"},
        )
        await pause_job(self._session, lease.project_id, lease.id)

    async def _event(self, lease: Lease, message: str, *, data: dict[str, Any]) -> None:
        events = EventStore(self._session, lease.project_id)
        await events.append(lease.id, level="warn", message=message, data=data)


def job_claims(database: Database) -> ClaimUnitOfWork[ClaimableJobs]:
    return ClaimUnitOfWork(database, ClaimableJobs)


_CHILDREN: Final[tuple[type[Base], ...]] = (
    RolloutTable,
    JobEventTable,
    JobMetricTable,
    JobMetricBlockTable,
    CheckpointTable,
    ReportTable,
)
"""Rows that are removed with a job; its models go with its own row, its eval has gone."""


@dataclass(frozen=True, slots=True)
class EndedJob:
    project_id: str
    job_id: str
    adapters: frozenset[str]
    """Object keys of adapters to which a model, a checkpoint or the ended job still refers."""
    removed_models: tuple[str, ...] = ()
    deleted: bool = False
    rollouts_deleted: bool = False
    clean_after: datetime | None = None

    @property
    def loses_rollouts(self) -> bool:
        return self.deleted or self.rollouts_deleted


class EndedJobStore(SessionRows):
    async def unclean(self, limit: int, *, settled_s: float) -> list[EndedJob]:
        rows = await self._session.execute(
            select(
                Table.project_id,
                Table.id,
                Table.status,
                Table.adapter_key,
                Table.clean_after,
                Table.deleted_at.is_not(None).label("deleted"),
                Table.rollouts_deleted_at.is_not(None).label("rollouts_deleted"),
            )
            .where(
                Table.status.in_(ENDED),
                or_(Table.lease_owner.is_not(None), Table.clean_after <= func.now()),
                Table.finished_at <= func.now() - timedelta(seconds=settled_s),
            )
            .order_by(Table.finished_at, Table.id)
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
        await set_tenant(self._session, job.project_id)
        return await self._remove(RolloutTable, job, limit)

    async def remove_children(self, job: EndedJob, limit: int) -> int:
        await set_tenant(self._session, job.project_id)
        removed = 0
        for table in _CHILDREN:
            removed += await self._remove(table, job, limit - removed)
        return removed

    async def finish(self, job: EndedJob, *, unloaded: bool, keep_s: float) -> bool:
        """Removes the job's journal and, once its adapters are `unloaded`, the rows that refer to
        them. Returns whether its own row was removed: it stays for `keep_s`, so that a list can
        continue paging after it, and as long as its published model.
        """
        await set_tenant(self._session, job.project_id)
        await JournalStore(self._session, job.project_id).forget_all(job.job_id)
        if not unloaded:
            return False
        living = exists(select(Model.name).where(Model.job_id == job.job_id, ~_removed()))
        if not job.deleted or await self._session.scalar(select(living)):
            await self._settle(job, clean_after=None)
            return False
        due = Table.deleted_at + timedelta(seconds=keep_s)
        removed = await self._session.scalar(
            delete(Table).where(*self._unchanged(job), due <= func.now()).returning(Table.id)
        )
        if removed is None:
            await self._settle(job, clean_after=due)
        return removed is not None

    async def postpone(self, job: EndedJob, seconds: float) -> None:
        await set_tenant(self._session, job.project_id)
        await self._settle(job, clean_after=func.now() + timedelta(seconds=seconds))

    async def _settle(self, job: EndedJob, *, clean_after: Any) -> None:
        await self._session.execute(
            update(Table)
            .where(*self._unchanged(job))
            .values(lease_owner=None, clean_after=clean_after)
        )

    @staticmethod
    def _unchanged(job: EndedJob) -> Sequence[ColumnElement[bool]]:
        return (
            Table.project_id == job.project_id,
            Table.id == job.job_id,
            Table.status.in_(ENDED),
            Table.clean_after.is_not_distinct_from(job.clean_after),
        )

    async def _remove(self, table: type[Base], job: EndedJob, limit: int) -> int:
        key = inspect(table).primary_key
        some = select(*key).where(
            table.__table__.c.project_id == job.project_id, table.__table__.c.job_id == job.job_id
        )
        removed = await self._session.execute(
            delete(table).where(tuple_(*key).in_(some.limit(limit))).returning(key[0])
        )
        return len(removed.all())


def _removed() -> ColumnElement[bool]:
    return or_(Model.deleted_at.is_not(None), model_dropped())
