"""Leases of fine-tuning jobs, across all tenants."""

from typing import Any, ClassVar

from sqlalchemy import func, update
from typing_extensions import override

from app.domain.events.webhooks import JOB_EVENTS
from app.domain.jobs.jobs import OPEN_JOBS, JobStatus
from app.store.across_tenants import ClaimUnitOfWork, set_tenant
from app.store.database import Database
from app.store.events.log import log_end
from app.store.jobs.events import EventStore
from app.store.leases import ClaimableRows, Lease
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Table


class ClaimableJobs(ClaimableRows):
    table: ClassVar[type[Table]] = Table
    open_states = tuple(status.value for status in OPEN_JOBS)

    @override
    async def fail(self, lease: Lease, message: str) -> None:
        """Writes the failed state and its event as the tenant, who owns both rows."""
        await set_tenant(self._session, lease.project_id)
        error: dict[str, Any] = {"code": "worker_lost", "message": message, "param": None}
        await self._session.execute(
            update(Table)
            .where(Table.id == lease.id, Table.fence == lease.fence)
            .values(status=JobStatus.FAILED.value, error=error, finished_at=func.now())
        )
        events = EventStore(self._session, lease.project_id)
        await events.append(lease.id, level="error", type="message", message=message)
        event_type = JOB_EVENTS[JobStatus.FAILED]
        await log_end(self._session, lease.project_id, event_type=event_type, subject=lease.id)


def job_claims(database: Database) -> ClaimUnitOfWork[ClaimableJobs]:
    """A transaction that sees the jobs of all tenants; only the worker's role gets any row."""
    return ClaimUnitOfWork(database, ClaimableJobs)
