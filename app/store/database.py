"""One pool of connections, and the doors through which units of work are opened.

A unit of work is one transaction with one context (a tenant, a key look-up, an organization, a
run). The context is set with `SET LOCAL` semantics and dies with the transaction, so a pooled
connection carries nothing over.
"""

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine

from app.domain.errors import Unavailable
from app.domain.ids import OrganizationId
from app.domain.tenants import Tenant
from app.store.unit_of_work import RunUnitOfWork, UnitOfWork

_CONNECT_TIMEOUT_S = 5
_STATEMENT_TIMEOUT_MS = 60_000


class Database:
    def __init__(self, url: str, *, pool_size: int = 5) -> None:
        self._engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            pool_timeout=10,
            connect_args={
                "connect_timeout": _CONNECT_TIMEOUT_S,
                "options": f"-c statement_timeout={_STATEMENT_TIMEOUT_MS}",
            },
        )
        self.sessions = async_sessionmaker(self._engine, expire_on_commit=False)

    def tenant(self, tenant: Tenant) -> UnitOfWork:
        return UnitOfWork(self.sessions, {"app.project": tenant.project_id})

    def key_lookup(self, key_id: str) -> UnitOfWork:
        """Sees one key and nothing else: who asks is not known yet."""
        return UnitOfWork(self.sessions, {"app.key_id": key_id})

    def organization(self, organization_id: OrganizationId) -> UnitOfWork:
        """Sees an organization, its projects and its keys, but no project's data."""
        return UnitOfWork(self.sessions, {"app.organization": organization_id})

    def organization_slug(self, slug: str) -> UnitOfWork:
        """Sees the organization of one slug, for provisioning that is safe to repeat."""
        return UnitOfWork(self.sessions, {"app.organization_slug": slug})

    def run(self, project_id: str, job_id: str, fence: int) -> RunUnitOfWork:
        """A run's transaction: holds the fence, or raises `LeaseLost` on entry."""
        return RunUnitOfWork(self.sessions, {"app.project": project_id}, job_id=job_id, fence=fence)

    async def ping(self) -> None:
        """Raises `Unavailable` while the database does not answer."""
        try:
            async with self._engine.connect() as connection:
                await connection.execute(text("SELECT 1"))
        except (OperationalError, InterfaceError, DBAPIError, TimeoutError) as error:
            raise Unavailable("The database does not answer.") from error

    async def dispose(self) -> None:
        await self._engine.dispose()
