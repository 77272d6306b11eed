"""The transaction of the worker that has the lease on an eval run."""

from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.domain.evals.evals import EvalRunStatus
from app.store.database import Database
from app.store.evals.eval_items import EvalItemStore
from app.store.evals.eval_runs import LeasedEvalRunStore
from app.store.evals.evals import EvalStore
from app.store.files.files import FileStore
from app.store.leases.leases import Lease, lock_held
from app.store.models.models import ModelStore
from app.store.schema.eval_runs import EvalRunTable
from app.store.transactions.base_unit import BaseUnitOfWork, Sessions

_HELD: Final = (EvalRunStatus.IN_PROGRESS.value,)


class EvalRunUnitOfWork(BaseUnitOfWork):
    """Locks the run at the fence of its lease. Raises `LeaseLost` on entry."""

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
