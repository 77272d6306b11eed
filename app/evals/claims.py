"""The transaction of the worker that has the lease on an eval run."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.across_tenants import ClaimUnitOfWork, set_tenant
from app.database import Database
from app.evals.evals import OPEN_RUNS, EvalRunStatus
from app.evals.store import EvalItemStore, EvalStore, LeasedEvalRunStore
from app.evals.tables import EvalRunTable
from app.events.store import log_end
from app.files.store import FileStore
from app.kit.leases import WORKER_LOST, Lease, QueuedRows, lock_held
from app.kit.transactions import BaseUnitOfWork, Sessions
from app.models.store import ModelStore

_HELD: Final = (EvalRunStatus.IN_PROGRESS.value,)


class EvalRunUnitOfWork(BaseUnitOfWork):
    def __init__(self, sessions: Sessions, lease: Lease) -> None:
        super().__init__(sessions, {"app.project": lease.project_id})
        self._lease = lease

    @override
    async def _open(self, session: AsyncSession) -> None:
        lease = self._lease
        await lock_held(session, EvalRunTable, lease, states=_HELD)
        self.run = LeasedEvalRunStore(session, lease.project_id, lease.id)
        self.items = EvalItemStore(session, lease.project_id)
        self.evals = EvalStore(session, lease.project_id)
        self.files = FileStore(session, lease.project_id)
        self.models = ModelStore(session, lease.project_id)


def leased_eval_run(database: Database, lease: Lease) -> EvalRunUnitOfWork:
    return EvalRunUnitOfWork(database.sessions, lease)


class ClaimableEvalRuns(QueuedRows):
    table: ClassVar[type[EvalRunTable]] = EvalRunTable
    limit_column = "max_running_eval_runs"
    open_states = tuple(status.value for status in OPEN_RUNS)
    end_states = (EvalRunStatus.COMPLETED.value, EvalRunStatus.FAILED.value)

    @override
    def changes_of_claim(self) -> Mapping[str, Any]:
        return {
            "status": EvalRunStatus.IN_PROGRESS.value,
            "started_at": func.coalesce(EvalRunTable.started_at, func.now()),
        }

    @override
    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        """Writes the failed state and its event as the tenant, who owns both rows."""
        await set_tenant(self._session, lease.project_id)
        await self._session.execute(
            update(EvalRunTable)
            .where(EvalRunTable.id == lease.id, EvalRunTable.fence == lease.fence)
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
    return ClaimUnitOfWork(database, ClaimableEvalRuns)
