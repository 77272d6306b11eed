"""The transaction of maintenance: it sees the rows of all tenants, for the GPU plane only."""

from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.store.across_tenants import CrossTenantUnitOfWork
from app.store.database import Database
from app.store.maintenance.ended_jobs import EndedJobStore
from app.store.maintenance.expiry import ExpiryStore
from app.store.maintenance.retention import RetentionStore


class MaintenanceUnitOfWork(CrossTenantUnitOfWork):
    @override
    async def _open(self, session: AsyncSession) -> None:
        self.expiry = ExpiryStore(session)
        self.ended_jobs = EndedJobStore(session)
        self.retention = RetentionStore(session)


def maintenance(database: Database) -> MaintenanceUnitOfWork:
    """Returns a transaction that sees the expired rows of all tenants; only the worker's role gets
    any.
    """
    return MaintenanceUnitOfWork(database)
