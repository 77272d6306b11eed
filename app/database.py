"""The units of work of requests and runs: one transaction each, with its stores."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from typing_extensions import override

from app.accounts.key_store import KEY_ID, SESSION, KeyLookup, KeyStore, SessionLookup, SessionStore
from app.accounts.store import AuditLogStore, ProjectStore, ServiceAccountStore
from app.accounts.usage import Quotas
from app.accounts.usage_store import QuotaStore, UsageStore
from app.evals.store import (
    AttachedEvalRunStore,
    EvalItemStore,
    EvalRunStore,
    EvalStore,
    ValidationRunStore,
)
from app.events.store import wrote_end
from app.files.store import FileStore, UploadStore
from app.http.idempotency_store import IdempotencyStore
from app.jobs.curve_store import MetricStore, OutlineStore
from app.jobs.jobs import OPEN_JOBS, JobStatus, StatusCount
from app.jobs.rows import CheckpointStore, EventStore, JournalStore, ReportStore, StreamStore
from app.jobs.run_store import RunJobStore
from app.jobs.store import JobsInTransaction, JobStore
from app.jobs.tables import FineTuningJobTable
from app.kit.callers import Principal, Tenant
from app.kit.errors import Unavailable
from app.kit.ids import OrganizationId, ProjectId
from app.kit.leases import Lease, lock_held
from app.kit.sql import PROJECT, Callback
from app.kit.transactions import (
    AutocommitStatements,
    BaseUnitOfWork,
    RequestSlots,
    RequestTransaction,
    Sessions,
    Store,
    losses_as_unavailable,
    of_session,
    refuse_closed,
    register,
    roll_back_open,
)
from app.models.export_store import ExportStore
from app.models.store import ModelStore, PermissionStore, StoredCompletionStore
from app.rollouts.store import RolloutStore
from app.teaching.coach.store import CoachSessionStore, claim_due
from app.teaching.feedback.store import FeedbackBuildStore, FeedbackStore
from app.teaching.students.store import SkillStore, StudentStore
from app.tools.store import RegistryStore
from app.webhooks.store import WebhookEndpointStore


class ProjectUnitOfWork(BaseUnitOfWork):
    events = Store(EventStore)
    metrics = Store(MetricStore)
    checkpoints = Store(CheckpointStore)
    files = Store(FileStore)
    models = Store(ModelStore)
    rollouts = Store(RolloutStore)
    reports = Store(ReportStore)


class UnitOfWork(ProjectUnitOfWork):
    """A request's transaction: every store sees one tenant's rows, and its actor is on record."""

    _acts = True
    streams = of_session(StreamStore)
    outlines = of_session(OutlineStore)
    exports = Store(ExportStore)
    permissions = Store(PermissionStore)
    stored_completions = Store(StoredCompletionStore)
    feedback = Store(FeedbackStore)
    feedback_builds = Store(FeedbackBuildStore)
    evals = Store(EvalStore)
    eval_runs = Store(EvalRunStore)
    eval_items = Store(EvalItemStore)
    validation_runs = of_session(ValidationRunStore)
    uploads = Store(UploadStore)
    webhook_endpoints = Store(WebhookEndpointStore)
    keys = of_session(KeyStore)
    dashboard_sessions = of_session(SessionStore)
    projects = of_session(ProjectStore)
    audit_logs = of_session(AuditLogStore)
    usage = of_session(UsageStore)
    service_accounts = of_session(ServiceAccountStore)
    registry = Store(RegistryStore)
    students = Store(StudentStore)
    skills = Store(SkillStore)
    coach_sessions = Store(CoachSessionStore)

    def __init__(self, sessions: Sessions, context: Mapping[str, str], *, quotas: Quotas) -> None:
        super().__init__(sessions, context)
        self._quotas = quotas

    @cached_property
    def jobs(self) -> JobsInTransaction:
        return JobsInTransaction(
            self._statements, self._session, self.project_id, quotas=self._quotas
        )

    @cached_property
    def quotas(self) -> QuotaStore:
        return QuotaStore(self._session, self.project_id, self._quotas)

    def after_end(self, callback: Callback) -> None:
        """Runs after the commit if an end was logged: the log's reader needs a notification."""
        if wrote_end(self._session):
            self.after_commit(callback)


class RequestUnitOfWork(UnitOfWork):
    """The transaction of a whole request, in its `slot`; units of its tenant may join it."""

    def __init__(
        self,
        sessions: Sessions,
        context: Mapping[str, str],
        *,
        slot: AbstractAsyncContextManager[None],
        quotas: Quotas,
    ) -> None:
        super().__init__(sessions, context, quotas=quotas)
        [self._scope] = context.values()
        self._slot = slot

    @override
    async def __aenter__(self) -> Self:
        await self._slot.__aenter__()
        try:
            return await super().__aenter__()
        except BaseException:
            await self._slot.__aexit__(None, None, None)
            raise

    @override
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await super().__aexit__(kind, error, traceback)
        finally:
            await self._slot.__aexit__(None, None, None)

    @cached_property
    def stored_responses(self) -> IdempotencyStore:
        return IdempotencyStore(self._session, self._scope)

    def begin_request_transaction(self) -> Callable[[], None]:
        """Lets units join until the returned function is called; they commit with this unit."""
        transaction = RequestTransaction(self._session, self._context)
        self._after_commit = transaction.after_commit
        return register(transaction)


class RunUnitOfWork(ProjectUnitOfWork):
    """A run's transaction. It locks the job row at its fence, so that no newer claim is made before
    the commit, and an older one can write nothing. Those of one run follow one another: with shared
    locks, two that update the row would wait for each other.
    """

    eval_runs = Store(AttachedEvalRunStore)
    journal = Store(JournalStore)

    def __init__(
        self, sessions: Sessions, context: Mapping[str, str], *, job_id: str, fence: int
    ) -> None:
        super().__init__(sessions, context)
        self._job_id, self._fence = job_id, fence

    @override
    async def _open(self, session: AsyncSession) -> None:
        lease = Lease(self._job_id, self.project_id, self._fence)
        await lock_held(session, FineTuningJobTable, lease, states=OPEN_JOBS)

    @cached_property
    def jobs(self) -> RunJobStore:
        return RunJobStore(
            self._statements, self._session, project_id=self.project_id, job_id=self._job_id
        )


_CONNECT_TIMEOUT_S = 5
_STATEMENT_TIMEOUT_S = 60.0
_ORGANIZATION = "app.organization"
_LOST_PEER_S = 20
"""Seconds to the end of a connection whose peer vanished; the system's default is two hours."""
_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_STATUS_COUNTS = text("SELECT status, jobs, oldest_s FROM installation_counts()")
_UNBOUND_ROLE = """
    SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)
"""


@dataclass(frozen=True, slots=True)
class CoachClaim:
    tenant: Tenant
    lease: Lease


class UnboundRoleError(RuntimeError):
    """The configured role is a superuser or has BYPASSRLS: it would see every tenant's rows."""


def _context_of(principal: Principal) -> dict[str, str]:
    return {PROJECT if isinstance(principal, Tenant) else _ORGANIZATION: principal.scope_id}


class Database:
    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 5,
        idle_in_transaction_s: float = _STATEMENT_TIMEOUT_S,
        quotas: Quotas | None = None,
    ) -> None:
        """`idle_in_transaction_s`: seconds after which Postgres ends an idle transaction, because
        its process may be stopped for ever while its locks block others. `quotas` limit what units
        of work may insert; the default has its own limits.
        """
        self._quotas = quotas or Quotas()
        self._engine: AsyncEngine = create_async_engine(
            url,
            # No overflow: under load it would open and close a connection for every request.
            pool_size=2 * pool_size,
            max_overflow=0,
            pool_use_lifo=True,
            pool_timeout=10,
            pool_reset_on_return=None,  # `roll_back_open` does it
            # Each unit of work sends BEGIN itself, together with its settings.
            isolation_level="AUTOCOMMIT",
            # The values of a failed statement would otherwise appear in the error and in the log.
            hide_parameters=True,
            connect_args=_connect_args(idle_in_transaction_s),
        )
        event.listen(self._engine.sync_engine, "connect", _refuse_unbound_role)
        event.listen(self._engine.sync_engine, "checkout", refuse_closed)
        event.listen(self._engine.sync_engine, "reset", roll_back_open)
        self._request_slots = RequestSlots(pool_size)  # half of the connections
        self.sessions = async_sessionmaker(self._engine, expire_on_commit=False)

    def tenant(self, tenant: Tenant) -> UnitOfWork:
        return self._unit({PROJECT: tenant.project_id})

    def request(self, principal: Principal) -> RequestUnitOfWork:
        """Returns a transaction that units of work of the same request and context can join."""
        return RequestUnitOfWork(
            self.sessions,
            _context_of(principal),
            slot=self._request_slots.taken(principal),
            quotas=self._quotas,
        )

    def owned(self, principal: Principal) -> UnitOfWork:
        """Returns a unit of a project, or for an admin key of its organization."""
        return self._unit(_context_of(principal))

    def jobs(self, tenant: Tenant) -> JobStore:
        return JobStore(self._alone(PROJECT, tenant.project_id), self._quotas)

    def key_lookup(self, key_id: str) -> KeyLookup:
        """Returns a look-up that can read one key only; the caller is not authenticated yet."""
        return KeyLookup(self._alone(KEY_ID, key_id))

    def dashboard_session(self, session_id: str) -> SessionLookup:
        return SessionLookup(self._alone(SESSION, session_id))

    def _unit(self, context: Mapping[str, str]) -> UnitOfWork:
        return UnitOfWork(self.sessions, context, quotas=self._quotas)

    def _alone(self, name: str, value: str) -> AutocommitStatements:
        return AutocommitStatements(self._engine, self.sessions, {name: value})

    def organization(self, organization_id: OrganizationId) -> UnitOfWork:
        """Returns a unit that reads an organization, its projects and keys, but no data."""
        return self._unit({_ORGANIZATION: organization_id})

    def project_of(self, organization_id: OrganizationId, project_id: ProjectId) -> UnitOfWork:
        """Reads an organization and a project's data; joins no request, so changes show at once."""
        return self._unit({_ORGANIZATION: organization_id, PROJECT: project_id})

    def organization_slug(self, slug: str) -> UnitOfWork:
        return self._unit({"app.organization_slug": slug})

    def run(self, project_id: str, job_id: str, fence: int) -> RunUnitOfWork:
        """Returns a transaction that locks the job, or raises `LeaseLost` on entry."""
        return RunUnitOfWork(self.sessions, {PROJECT: project_id}, job_id=job_id, fence=fence)

    async def ping(self) -> None:
        try:
            async with self._engine.connect() as connection:
                await connection.execute(text("SELECT 1"))
        except (OperationalError, InterfaceError, DBAPIError, TimeoutError) as error:
            raise Unavailable("The database does not answer.") from error

    async def status_counts(self) -> list[StatusCount]:
        with losses_as_unavailable():
            async with self._engine.connect() as connection:
                rows = await connection.execute(_STATUS_COUNTS)
                return [StatusCount(JobStatus(status), jobs, age) for status, jobs, age in rows]

    async def claim_coach_sessions(self, at_most: int, lease_s: float) -> list[CoachClaim]:
        claimed = await claim_due(self.sessions, at_most, lease_s)
        return [CoachClaim(tenant, lease) for tenant, lease in claimed]

    async def dispose(self) -> None:
        await self._engine.dispose()


def _connect_args(idle_in_transaction_s: float) -> dict[str, Any]:
    """The server's limits, too, are sent when connecting, whoever configures the server."""
    server = {
        "statement_timeout": f"{_STATEMENT_TIMEOUT_S:.0f}s",
        "idle_in_transaction_session_timeout": f"{max(1, round(1000 * idle_in_transaction_s))}ms",
        "tcp_user_timeout": f"{_LOST_PEER_S}s",
        **{f"tcp_{name}": value for name, value in _KEEPALIVE.items()},
    }
    return {
        "connect_timeout": _CONNECT_TIMEOUT_S,
        "tcp_user_timeout": 1000 * _LOST_PEER_S,
        **_KEEPALIVE,
        "options": " ".join(f"-c {name}={value}" for name, value in server.items()),
    }


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
