"""The unit of work: one transaction, its context, its stores, and the only commit in the codebase.

A lost connection becomes `Unavailable` here and nowhere else. What was registered with
`after_commit` runs only once the commit has succeeded; a failure there is logged, because the
rows are already the truth.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self

import structlog
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from typing_extensions import override

from app.domain.errors import LeaseLost, Unavailable
from app.domain.jobs.jobs import JobStatus
from app.store.accounts.keys import KeyStore
from app.store.accounts.projects import ProjectStore
from app.store.accounts.service_accounts import ServiceAccountStore
from app.store.connections import begin
from app.store.evals.eval_items import EvalItemStore
from app.store.evals.eval_runs import EvalRunStore
from app.store.evals.evals import EvalStore
from app.store.evals.validation_runs import ValidationRunStore
from app.store.files.files import FileStore
from app.store.files.uploads import UploadStore
from app.store.idempotency import IdempotencyStore
from app.store.jobs.checkpoints import CheckpointStore
from app.store.jobs.events import EventStore
from app.store.jobs.jobs import JobStore
from app.store.jobs.journal import JournalStore
from app.store.jobs.metrics import MetricStore
from app.store.jobs.reports import ReportStore
from app.store.jobs.rollouts import RolloutStore
from app.store.jobs.run_jobs import RunJobStore
from app.store.models.models import ModelStore
from app.store.models.permissions import PermissionStore
from app.store.registry.registered_objects import RegistryStore
from app.store.request_transaction import (
    RequestSlots,
    RequestTransaction,
    joinable,
    register,
)
from app.store.schema.fine_tuning_jobs import FineTuningJobTable
from app.store.webhooks.webhook_endpoints import WebhookEndpointStore
from app.store.webhooks.webhook_events import wrote_events

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
RUN_STATES = (JobStatus.VALIDATING_FILES, JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.PAUSING)
_GONE = (OperationalError, InterfaceError, PoolTimeoutError)


def is_connection_loss(error: BaseException) -> bool:
    """Whether the server, not the statement, is at fault."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, (*_GONE, ConnectionError))


class BaseUnitOfWork:
    """A transaction with settings that row-level security reads."""

    def __init__(self, sessions: Sessions, context: Mapping[str, str]) -> None:
        self._sessions = sessions
        self._context = context
        self._after_commit: list[Callable[[], Awaitable[None]]] = []
        self._joined: RequestTransaction | None = None

    def after_commit(self, callback: Callable[[], Awaitable[None]]) -> None:
        self._after_commit.append(callback)

    @property
    def in_request_transaction(self) -> bool:
        """Whether a transaction of the request is open that this unit will be a part of."""
        return joinable(self._context) is not None

    async def __aenter__(self) -> Self:
        self._joined = joinable(self._context)
        if self._joined is not None:
            await self._join(self._joined)
            return self
        self._session = self._sessions()
        try:
            await begin(await self._session.connection(), self._context)
            await self._open(self._session)
        except BaseException as error:
            await self._close()
            if is_connection_loss(error):
                raise Unavailable("The database is away for a moment.") from error
            raise
        return self

    async def _join(self, request: RequestTransaction) -> None:
        await request.enter()
        try:
            self._session = request.session
            self._savepoint = await self._session.begin_nested()
            await self._open(self._session)
        except BaseException as error:
            request.leave()
            if is_connection_loss(error):
                raise Unavailable("The database is away for a moment.") from error
            raise

    async def _part(self, request: RequestTransaction, error: BaseException | None) -> None:
        """Leave the request's transaction: what was done here stays in it, or is undone alone."""
        try:
            if error is None:
                await self._savepoint.commit()
                request.after_commit += self._after_commit
            elif self._savepoint.is_active:
                await self._savepoint.rollback()
        except Exception as failure:
            if is_connection_loss(failure):
                raise Unavailable("The database is away for a moment.") from failure
            raise
        finally:
            request.leave()
        if error is not None and is_connection_loss(error):
            raise Unavailable("The database is away for a moment.") from error

    async def _open(self, session: AsyncSession) -> None:
        """Build the stores of this unit."""
        raise NotImplementedError

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._joined is not None:
            await self._part(self._joined, error)
            return
        try:
            if error is None:
                await self._session.commit()
        except Exception as failure:
            if is_connection_loss(failure):
                raise Unavailable("The database is away for a moment.") from failure
            raise
        finally:
            await self._close()
        if error is not None:
            if is_connection_loss(error):
                raise Unavailable("The database is away for a moment.") from error
            return
        for callback in self._after_commit:
            try:
                await callback()
            except Exception:
                log.exception("after-commit work failed")

    async def _close(self) -> None:
        """Rolls back what is open; a connection that is gone has nothing to roll back."""
        try:
            await self._session.close()
        except Exception as error:
            if not is_connection_loss(error):
                raise


class ProjectUnitOfWork(BaseUnitOfWork):
    """The stores that a request and a run of a project have in common."""

    def _open_project(self, session: AsyncSession, project_id: str) -> None:
        self.events = EventStore(session, project_id)
        self.metrics = MetricStore(session, project_id)
        self.checkpoints = CheckpointStore(session, project_id)
        self.files = FileStore(session, project_id)
        self.models = ModelStore(session, project_id)
        self.rollouts = RolloutStore(session, project_id)
        self.reports = ReportStore(session, project_id)


class UnitOfWork(ProjectUnitOfWork):
    """A request's transaction: every store sees one tenant's rows."""

    @override
    async def _open(self, session: AsyncSession) -> None:
        project_id = self._context.get("app.project", "")
        self.jobs = JobStore(session, project_id)
        self._open_project(session, project_id)
        self.permissions = PermissionStore(session, project_id)
        self.evals = EvalStore(session, project_id)
        self.eval_runs = EvalRunStore(session, project_id)
        self.eval_items = EvalItemStore(session, project_id)
        self.validation_runs = ValidationRunStore(session)
        self.uploads = UploadStore(session, project_id)
        self.webhook_endpoints = WebhookEndpointStore(session, project_id)
        self.keys = KeyStore(session)
        self.projects = ProjectStore(session)
        self.service_accounts = ServiceAccountStore(session)
        self.registry = RegistryStore(session, project_id)

    def wrote_events(self) -> bool:
        """Whether a webhook is to be delivered once this is committed."""
        return wrote_events(self._session)


class RequestUnitOfWork(UnitOfWork):
    """The transaction of a whole request: units of its tenant join it once
    `begin_request_transaction` was called.

    It has one of the `places` until it ends.
    """

    def __init__(
        self, sessions: Sessions, context: Mapping[str, str], *, places: RequestSlots
    ) -> None:
        super().__init__(sessions, context)
        [self._scope] = context.values()
        self._place = places.taken(self._scope)

    @override
    async def __aenter__(self) -> Self:
        await self._place.__aenter__()
        try:
            return await super().__aenter__()
        except BaseException:
            await self._place.__aexit__(None, None, None)
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
            await self._place.__aexit__(None, None, None)

    @override
    async def _open(self, session: AsyncSession) -> None:
        await super()._open(session)
        self.answers = IdempotencyStore(session, self._scope)

    def begin_request_transaction(self) -> Callable[[], None]:
        """The returned function ends it; what joined until then is committed with this unit."""
        transaction = RequestTransaction(self._session, self._context)
        self._after_commit = transaction.after_commit
        return register(transaction)


class RunUnitOfWork(ProjectUnitOfWork):
    """A run's transaction. It locks the job row at its own fence, so that no newer claim can slip
    in before the commit, and an older claim can write nothing.

    Transactions of one run therefore follow one another. A shared lock would let two of them wait
    for each other's end once both update the row.
    """

    def __init__(
        self, sessions: Sessions, context: Mapping[str, str], *, job_id: str, fence: int
    ) -> None:
        super().__init__(sessions, context)
        self._job_id = job_id
        self._fence = fence

    @override
    async def _open(self, session: AsyncSession) -> None:
        held = await session.scalar(
            select(FineTuningJobTable.id)
            .where(
                FineTuningJobTable.id == self._job_id,
                FineTuningJobTable.fence == self._fence,
                FineTuningJobTable.status.in_(RUN_STATES),
            )
            .with_for_update(key_share=True)
        )
        if held is None:
            raise LeaseLost(f"{self._job_id} is no longer held at fence {self._fence}")
        project_id = self._context["app.project"]
        self.jobs = RunJobStore(session, project_id, self._job_id)
        self._open_project(session, project_id)
        self.journal = JournalStore(session, project_id)
