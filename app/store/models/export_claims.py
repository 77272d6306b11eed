"""Leases of exports, across all tenants."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from sqlalchemy import func, update
from typing_extensions import override

from app.domain.models.exports import OPEN_EXPORTS, ExportStatus
from app.store.across_tenants import ClaimUnitOfWork, set_tenant
from app.store.database import Database
from app.store.leases.leases import Lease
from app.store.leases.queues import WORKER_LOST, QueuedRows
from app.store.schema.exports import ModelExportTable as Table


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
        """Writes the failed state as the tenant, who owns the row."""
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
    """Returns a transaction that sees the exports of all tenants; only the worker's role gets any
    row.
    """
    return ClaimUnitOfWork(database, ClaimableExports)
