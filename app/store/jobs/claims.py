"""Leases of fine-tuning jobs, across all tenants."""

from datetime import timedelta
from typing import Any, ClassVar

from sqlalchemy import func, select, update
from typing_extensions import override

from app.domain.jobs.jobs import OPEN_JOBS, JobStatus, StopRequest
from app.store.across_tenants import ClaimUnitOfWork, set_tenant
from app.store.database import Database
from app.store.events.log import log_end
from app.store.jobs.checkpoints import CheckpointStore
from app.store.jobs.events import EventStore
from app.store.jobs.transitions import pause_job
from app.store.leases.leases import Lease, lock_held
from app.store.leases.queues import WORKER_LOST, QueuedRows
from app.store.schema.jobs import FineTuningJobTable as Table


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
        await events.append(lease.id, level="error", type="message", message=message)
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
        await events.append(lease.id, level="warn", type="message", message=message, data=data)


def job_claims(database: Database) -> ClaimUnitOfWork[ClaimableJobs]:
    """Returns a transaction that sees all tenants' jobs; only the worker's role gets any row."""
    return ClaimUnitOfWork(database, ClaimableJobs)
