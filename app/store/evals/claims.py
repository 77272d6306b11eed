"""Leases of eval runs, across all tenants."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from sqlalchemy import func, update
from typing_extensions import override

from app.domain.evals.evals import OPEN_RUNS, EvalRunStatus
from app.store.across_tenants import ClaimUnitOfWork, set_tenant
from app.store.database import Database
from app.store.events.log import log_end
from app.store.leases.leases import Lease
from app.store.leases.queues import WORKER_LOST, QueuedRows
from app.store.schema.eval_runs import EvalRunTable as Table


class ClaimableEvalRuns(QueuedRows):
    table: ClassVar[type[Table]] = Table
    limit_column = "max_running_eval_runs"
    open_states = tuple(status.value for status in OPEN_RUNS)
    end_states = (EvalRunStatus.COMPLETED.value, EvalRunStatus.FAILED.value)

    @override
    def changes_of_claim(self) -> Mapping[str, Any]:
        return {
            "status": EvalRunStatus.IN_PROGRESS.value,
            "started_at": func.coalesce(Table.started_at, func.now()),
        }

    @override
    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        """Writes the failed state and its event as the tenant, who owns both rows."""
        await set_tenant(self._session, lease.project_id)
        await self._session.execute(
            update(Table)
            .where(Table.id == lease.id, Table.fence == lease.fence)
            .values(
                status=EvalRunStatus.FAILED.value,
                error={"code": WORKER_LOST, "message": message},
                finished_at=func.now(),
            )
        )
        await log_end(
            self._session, lease.project_id, event_type="eval.run.failed", subject=lease.id
        )


def eval_claims(database: Database) -> ClaimUnitOfWork[ClaimableEvalRuns]:
    """Returns a transaction that sees the eval runs of all tenants; only the worker's role gets any
    row.
    """
    return ClaimUnitOfWork(database, ClaimableEvalRuns)
