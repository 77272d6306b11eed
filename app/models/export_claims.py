"""The transaction of the worker that has the lease on an export."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.across_tenants import ClaimUnitOfWork, set_tenant
from app.database import Database
from app.kit.leases import WORKER_LOST, Lease, QueuedRows, lock_held
from app.kit.transactions import BaseUnitOfWork, Sessions
from app.models.adapters import OPEN_EXPORTS, ExportStatus
from app.models.export_store import LeasedExportStore
from app.models.store import ModelStore
from app.models.tables import ModelExportTable
from app.models.tables import ModelExportTable as Table

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


class ClaimableExports(QueuedRows):
    table: ClassVar[type[Table]] = Table
    limit_column = "max_running_exports"
    open_states = tuple(status.value for status in OPEN_EXPORTS)
    end_states = (ExportStatus.COMPLETED.value, ExportStatus.FAILED.value)

    @override
    def changes_of_claim(self) -> Mapping[str, Any]:
        return {
            "status": ExportStatus.IN_PROGRESS.value,
            "started_at": func.coalesce(Table.started_at, func.now()),
        }

    @override
    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        await set_tenant(self._session, lease.project_id)
        await self._session.execute(
            update(Table)
            .where(Table.id == lease.id, Table.fence == lease.fence)
            .values(
                status=ExportStatus.FAILED.value,
                stage=None,
                error={"code": WORKER_LOST, "message": message},
                bytes=0,
                finished_at=func.now(),
                expires_at=None if kept_for is None else func.now() + kept_for,
            )
        )


def export_claims(database: Database) -> ClaimUnitOfWork[ClaimableExports]:
    return ClaimUnitOfWork(database, ClaimableExports)
