"""Jobs for processes of the GPU plane: one that reads a job without a lease, those that trackers
follow, and the claims of all tenants.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.across_tenants import ClaimUnitOfWork, CrossTenantUnitOfWork, set_tenant
from app.database import Database, ProjectUnitOfWork
from app.events.store import log_end
from app.jobs.event_store import CheckpointStore, EventStore
from app.jobs.jobs import OPEN_JOBS, Job, JobStatus, StopRequest
from app.jobs.rows import pause_job, to_job
from app.jobs.tables import FineTuningJobTable as Table
from app.kit.errors import NotFound
from app.kit.leases import WORKER_LOST, Lease, QueuedRows, lock_held
from app.kit.transactions import Sessions, of_session


class JobReaderUnitOfWork(ProjectUnitOfWork):
    """A transaction of one project, in which a process without a lease reads a job."""

    def __init__(self, sessions: Sessions, project_id: str) -> None:
        super().__init__(sessions, {"app.project": project_id})

    async def job(self, job_id: str) -> Job:
        """Raises `NotFound` for a job that was deleted."""
        query = select(Table).where(Table.id == job_id, Table.deleted_at.is_(None))
        row = await self._session.scalar(query)
        if row is None:
            raise NotFound(f"No job {job_id}.")
        return to_job(row)

    async def secrets(self, job_id: str) -> bytes | None:
        """Returns the sealed secrets of the job."""
        return await self._session.scalar(select(Table.secrets).where(Table.id == job_id))


def job_reader(database: Database, project_id: str) -> JobReaderUnitOfWork:
    """Returns a transaction of one project."""
    return JobReaderUnitOfWork(database.sessions, project_id)


GIVE_UP_AFTER_S: Final = 24 * 3600.0
"""Seconds after the end of a job for which a tracker that fails is tried again."""


@dataclass(frozen=True, slots=True)
class TrackedJob:
    id: str
    project_id: str
    integrations: list[dict[str, Any]]
    has_ended: bool


class TrackedJobStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def all(self) -> list[TrackedJob]:
        """Returns the jobs with integrations that have not ended, or ended not long ago."""
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


class TrackedJobsUnitOfWork(CrossTenantUnitOfWork):
    """A transaction that sees the tracked jobs of all tenants."""

    tracked = of_session(TrackedJobStore)


def tracked_jobs(database: Database) -> TrackedJobsUnitOfWork:
    """Returns a transaction that lists tracked jobs; only the worker's role gets any."""
    return TrackedJobsUnitOfWork(database)


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
            self._session,
            lease.project_id,
            event_type="fine_tuning.job.failed",
            subject=lease.id,
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
    async def pause_requested(self, lease: Lease) -> bool:
        request = await self._session.scalar(
            select(Table.stop_request).where(Table.id == lease.id, Table.fence == lease.fence)
        )
        return request == StopRequest.PAUSE.value

    @override
    async def pause(self, lease: Lease, reason: str) -> None:
        """Pauses the job between two commits, as its tenant."""
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
    """Returns a transaction that sees all tenants' jobs; only the worker's role gets any row."""
    return ClaimUnitOfWork(database, ClaimableJobs)
