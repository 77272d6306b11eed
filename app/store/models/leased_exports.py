"""The transaction of the worker that has the lease on an export."""

from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.domain.models.exports import ExportStatus
from app.store.database import Database
from app.store.leases.leases import Lease, lock_held
from app.store.models.exports import LeasedExportStore
from app.store.models.models import ModelStore
from app.store.schema.exports import ModelExportTable
from app.store.transactions.base_unit import BaseUnitOfWork, Sessions

_HELD: Final = (ExportStatus.IN_PROGRESS.value,)


class ExportUnitOfWork(BaseUnitOfWork):
    """Locks the export at the fence of its lease. Raises `LeaseLost` on entry."""

    def __init__(self, sessions: Sessions, lease: Lease) -> None:
        super().__init__(sessions, {"app.project": lease.project_id})
        self._lease = lease

    @override
    async def _open(self, session: AsyncSession) -> None:
        lease = self._lease
        await lock_held(session, ModelExportTable, lease, states=_HELD)
        self.export = LeasedExportStore(session, lease.project_id, lease.id)
        self.models = ModelStore(session, lease.project_id)


def leased_export(database: Database, lease: Lease) -> ExportUnitOfWork:
    return ExportUnitOfWork(database.sessions, lease)
