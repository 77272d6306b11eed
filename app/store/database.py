"""One pool of connections, and the doors through which units of work are opened.

A unit of work is one transaction with one context (a tenant, a key look-up, an organization, a
run). The context is set with `SET LOCAL` semantics and dies with the transaction, so a pooled
connection carries nothing over. A role that row-level security does not bind is refused as soon as
it connects.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection as DriverConnection
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.util import await_only, greenlet_spawn

from app.domain.accounts.keys import ApiKeyRow
from app.domain.accounts.tenants import AdminPrincipal, Tenant
from app.domain.errors import Unavailable
from app.domain.ids import OrganizationId, ProjectId
from app.domain.jobs.jobs import Job, QueuePosition
from app.store.connections import refuse_closed
from app.store.jobs.jobs import no_such_job
from app.store.jobs.look_ups import find_job, find_key, find_places
from app.store.jobs.new_jobs import NewRows, insert_job_alone
from app.store.jobs.rows import to_job
from app.store.request_transaction import RequestSlots
from app.store.unit_of_work import RequestUnitOfWork, RunUnitOfWork, UnitOfWork

Found = TypeVar("Found")
_CONNECT_TIMEOUT_S = 5
_STATEMENT_TIMEOUT_MS = 60_000
_UNBOUND_ROLE = """
    SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)
"""


class UnboundRoleError(RuntimeError):
    """The configured role is a superuser or has BYPASSRLS: it would see every tenant's rows."""


class Database:
    def __init__(self, url: str, *, pool_size: int = 5) -> None:
        self._engine: AsyncEngine = create_async_engine(
            url,
            # No overflow: under load it would open and close a connection for every request.
            pool_size=2 * pool_size,
            max_overflow=0,
            pool_use_lifo=True,
            pool_timeout=10,
            # Each unit of work says BEGIN itself, together with its settings.
            isolation_level="AUTOCOMMIT",
            # A failed statement's values would otherwise stand in the error's text, and in the log.
            hide_parameters=True,
            connect_args={
                "connect_timeout": _CONNECT_TIMEOUT_S,
                "options": f"-c statement_timeout={_STATEMENT_TIMEOUT_MS}",
            },
        )
        event.listen(self._engine.sync_engine, "connect", _refuse_unbound_role)
        event.listen(self._engine.sync_engine, "checkout", refuse_closed)
        self._request_places = RequestSlots(pool_size)  # half of the connections
        self.sessions = async_sessionmaker(self._engine, expire_on_commit=False)

    def tenant(self, tenant: Tenant) -> UnitOfWork:
        return UnitOfWork(self.sessions, {"app.project": tenant.project_id})

    def request(self, principal: Tenant | AdminPrincipal) -> RequestUnitOfWork:
        """A transaction that the units of one request may join; in the context they would have."""
        if isinstance(principal, Tenant):
            context: dict[str, str] = {"app.project": principal.project_id}
        else:
            context = {"app.organization": principal.organization_id}
        return RequestUnitOfWork(self.sessions, context, places=self._request_places)

    async def find_key(self, key_id: str) -> ApiKeyRow | None:
        """Sees one key and nothing else: who asks is not known yet."""
        return await self._look_up(lambda driver: find_key(driver, key_id))

    async def find_job(self, tenant: Tenant, job_id: str) -> Job:
        """A tenant's job as it stands: what the request itself wrote is seen, too.

        Raises `NotFound`, for another tenant's job exactly as for none.
        """
        unit = self.tenant(tenant)
        if unit.in_request_transaction:
            async with unit:
                return await unit.jobs.get(job_id)
        job = await self._look_up(lambda driver: find_job(driver, tenant.project_id, job_id))
        if job is None:
            raise no_such_job(job_id)
        return job

    async def insert_job(
        self, tenant: Tenant, rows: NewRows, *, then: Callable[[], Awaitable[None]]
    ) -> tuple[Job | None, dict[str, str]]:
        """As `JobStore.admit`. `then` runs once the job is committed; it raises nothing."""
        unit = self.tenant(tenant)
        if unit.in_request_transaction:
            async with unit:
                job, purposes = await unit.jobs.admit(rows)
                if job is not None:
                    unit.after_commit(then)
                return job, purposes
        made = await self._look_up(lambda driver: insert_job_alone(driver, rows))
        if made.row is None:
            return None, made.purposes
        await then()
        return to_job(made.row), made.purposes

    async def find_places(self, tenant: Tenant, job_ids: list[str]) -> dict[str, QueuePosition]:
        """Of those jobs of a tenant that wait for a worker, counted over all tenants."""
        unit = self.tenant(tenant)
        if unit.in_request_transaction:
            async with unit:
                return await unit.jobs.queue_places(job_ids)
        return await self._look_up(lambda driver: find_places(driver, tenant.project_id, job_ids))

    async def _look_up(self, ask: Callable[[DriverConnection[Any]], Awaitable[Found]]) -> Found:
        """Raises `Unavailable`."""
        try:
            # One switch of context for taking a connection, asking, and giving it back.
            return await greenlet_spawn(self._asked, ask)
        except (psycopg.OperationalError, OperationalError, InterfaceError, PoolTimeout) as error:
            raise Unavailable("The database is away for a moment.") from error

    def _asked(self, ask: Callable[[DriverConnection[Any]], Awaitable[Found]]) -> Found:
        connection = self._engine.sync_engine.raw_connection()
        try:
            driver = connection.driver_connection
            if not isinstance(driver, DriverConnection):
                raise TypeError("not a connection of psycopg")
            try:
                return await_only(ask(driver))
            except psycopg.Error as error:
                if driver.closed:
                    connection.invalidate(error)
                raise
        finally:
            connection.close()

    def organization(self, organization_id: OrganizationId) -> UnitOfWork:
        """Sees an organization, its projects and its keys, but no project's data."""
        return UnitOfWork(self.sessions, {"app.organization": organization_id})

    def project_of(self, organization_id: OrganizationId, project_id: ProjectId) -> UnitOfWork:
        """Sees both, and is never part of a longer transaction: for what others must see at once,
        such as the end of a project.
        """
        return UnitOfWork(
            self.sessions, {"app.organization": organization_id, "app.project": project_id}
        )

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


def _refuse_unbound_role(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute(_UNBOUND_ROLE)
        unbound = cursor.fetchone()
    finally:
        cursor.close()
        connection.rollback()
    if unbound is not None:
        raise UnboundRoleError(
            f"Role {unbound[0]} is a superuser or has BYPASSRLS, so row-level security would not "
            "hold. Connect as agent_rft_app or agent_rft_worker."
        )
