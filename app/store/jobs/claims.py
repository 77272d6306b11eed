"""Rows across tenants, for the GPU plane only: claim, renew, release, sweep.

The worker's role may see every tenant's jobs while `app.system` is on; the API's role may not,
whatever it sets. Nothing here reads datasets, rollouts or secrets.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.domain.errors import LeaseLost
from app.domain.events.webhooks import JOB_EVENTS
from app.domain.ids import new_id
from app.domain.jobs.jobs import JobStatus
from app.store.database import Database
from app.store.maintenance.expiry import ExpiryStore
from app.store.schema.events import JobEventTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Table
from app.store.unit_of_work import BaseUnitOfWork
from app.store.webhooks.webhook_events import emit, set_tenant

WAITING = (JobStatus.VALIDATING_FILES, JobStatus.QUEUED)
HELD = (JobStatus.RUNNING, JobStatus.PAUSING)


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    job_id: str
    project_id: str
    fence: int
    attempts: int


class SystemUnitOfWork(BaseUnitOfWork):
    @override
    async def _open(self, session: AsyncSession) -> None:
        self.jobs = SystemJobStore(session)
        self.expiry = ExpiryStore(session)


def system(database: Database) -> SystemUnitOfWork:
    """A transaction that sees the jobs of all tenants. Only the worker's role gets any row."""
    return SystemUnitOfWork(database.sessions, {"app.system": "on"})


class SystemJobStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(
        self, job_id: str, owner: str, lease_s: float, *, max_attempts: int
    ) -> ClaimedJob | None:
        """Take the lease with a new fence, or `None`: somebody holds it, or nothing is to do."""
        row = (
            await self._session.execute(
                update(Table)
                .where(Table.id == job_id, Table.attempts < max_attempts, _open(), _unheld())
                .values(
                    fence=Table.fence + 1,
                    attempts=Table.attempts + 1,
                    lease_owner=owner,
                    lease_until=func.now() + timedelta(seconds=lease_s),
                )
                .returning(Table.id, Table.project_id, Table.fence, Table.attempts)
            )
        ).one_or_none()
        return None if row is None else ClaimedJob(row.id, row.project_id, row.fence, row.attempts)

    async def renew(self, job_id: str, fence: int, lease_s: float) -> None:
        """Keep the lease. Raises `LeaseLost` after a cancel or a newer claim."""
        row = (
            await self._session.execute(
                update(Table)
                .where(Table.id == job_id, Table.fence == fence, _open())
                .values(lease_until=func.now() + timedelta(seconds=lease_s))
                .returning(Table.id)
            )
        ).one_or_none()
        if row is None:
            raise LeaseLost(f"{job_id} is no longer held at fence {fence}")

    async def release(self, job_id: str, fence: int, *, orderly: bool) -> int | None:
        """Give the job back before the lease runs out, so that it can be claimed at once. An
        orderly stop is no failed attempt. Returns the attempts so far, `None` when it is not ours.
        """
        attempts = func.greatest(Table.attempts - 1, 0) if orderly else Table.attempts
        return await self._session.scalar(
            update(Table)
            .where(Table.id == job_id, Table.fence == fence, _open())
            .values(
                lease_until=func.now() - timedelta(seconds=1),
                dispatched_at=func.now(),
                attempts=attempts,
            )
            .returning(Table.attempts)
        )

    async def due(self, limit: int, resend_after_s: float) -> list[str]:
        """Jobs that wait for a worker nobody woke lately; marks them as woken now."""
        unsent = or_(
            Table.dispatched_at.is_(None),
            Table.dispatched_at < func.now() - timedelta(seconds=resend_after_s),
            # The lease ran out after the last wake-up: its worker is gone.
            Table.lease_until > Table.dispatched_at,
        )
        wanted = (
            select(Table.id)
            .where(_open(), _unheld(), unsent)
            .order_by(Table.created_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        ids = list(await self._session.scalars(wanted))
        if ids:
            await self._session.execute(
                update(Table).where(Table.id.in_(ids)).values(dispatched_at=func.now())
            )
        return ids

    async def exhausted(self, max_attempts: int) -> list[ClaimedJob]:
        """Jobs that lost their worker too often to be claimed again."""
        rows = await self._session.execute(
            select(Table.id, Table.project_id, Table.fence, Table.attempts)
            .where(_open(), _unheld(), Table.attempts >= max_attempts)
            .with_for_update(skip_locked=True)
        )
        return [ClaimedJob(row.id, row.project_id, row.fence, row.attempts) for row in rows]

    async def fail_exhausted(self, job: ClaimedJob, message: str) -> None:
        """End the job, and say so to its tenant: the event is written as the tenant's own."""
        await set_tenant(self._session, job.project_id)
        error: dict[str, Any] = {"code": "worker_lost", "message": message, "param": None}
        await self._session.execute(
            update(Table)
            .where(Table.id == job.job_id, Table.fence == job.fence)
            .values(status=JobStatus.FAILED.value, error=error, finished_at=func.now())
        )
        await self._session.execute(
            insert(JobEventTable).values(
                id=new_id("ftevent-"),
                project_id=job.project_id,
                job_id=job.job_id,
                level="error",
                type="message",
                message=message,
            )
        )
        event_type = JOB_EVENTS[JobStatus.FAILED]
        await emit(self._session, job.project_id, event_type, job.job_id)


def _open() -> ColumnElement[bool]:
    return Table.status.in_([*WAITING, *HELD])


def _unheld() -> ColumnElement[bool]:
    return or_(Table.lease_until.is_(None), Table.lease_until < func.now())
