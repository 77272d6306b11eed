"""The units of work of requests and runs: one transaction each, with its stores."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Self

from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.domain.accounts.quotas import Quotas
from app.domain.jobs.jobs import OPEN_JOBS
from app.store.accounts.audit_logs import AuditLogStore
from app.store.accounts.dashboard_sessions import SessionStore
from app.store.accounts.keys import KeyStore
from app.store.accounts.projects import ProjectStore
from app.store.accounts.quotas import QuotaStore
from app.store.accounts.service_accounts import ServiceAccountStore
from app.store.accounts.usage import UsageStore
from app.store.coach.sessions import CoachSessionStore
from app.store.curves.metrics import MetricStore
from app.store.curves.outlines import OutlineStore
from app.store.evals.eval_items import EvalItemStore
from app.store.evals.eval_runs import AttachedEvalRunStore, EvalRunStore
from app.store.evals.evals import EvalStore
from app.store.evals.validation_runs import ValidationRunStore
from app.store.events.log import wrote_end
from app.store.feedback.builds import FeedbackBuildStore
from app.store.feedback.feedback import FeedbackStore
from app.store.files.files import FileStore
from app.store.files.uploads import UploadStore
from app.store.idempotency import IdempotencyStore
from app.store.jobs.checkpoints import CheckpointStore
from app.store.jobs.events import EventStore
from app.store.jobs.jobs_in_transaction import JobsInTransaction
from app.store.jobs.journal import JournalStore
from app.store.jobs.reports import ReportStore
from app.store.jobs.run_jobs import RunJobStore
from app.store.jobs.streams import StreamStore
from app.store.leases.leases import Lease, lock_held
from app.store.models.exports import ExportStore
from app.store.models.models import ModelStore
from app.store.models.permissions import PermissionStore
from app.store.models.stored_completions import StoredCompletionStore
from app.store.registry.registered_objects import RegistryStore
from app.store.rollouts.rollouts import RolloutStore
from app.store.schema.jobs import FineTuningJobTable
from app.store.students.skills import SkillStore
from app.store.students.students import StudentStore
from app.store.transactions.base_unit import BaseUnitOfWork, Sessions
from app.store.transactions.request_transaction import RequestTransaction, register
from app.store.transactions.statements import Callback
from app.store.webhooks.webhook_endpoints import WebhookEndpointStore


class ProjectUnitOfWork(BaseUnitOfWork):
    """The stores that a request and a run of a project share."""

    def _open_project(self, session: AsyncSession, project_id: str) -> None:
        self.events = EventStore(session, project_id)
        self.metrics = MetricStore(session, project_id)
        self.checkpoints = CheckpointStore(session, project_id)
        self.files = FileStore(session, project_id)
        self.models = ModelStore(session, project_id)
        self.rollouts = RolloutStore(session, project_id)
        self.reports = ReportStore(session, project_id)


class UnitOfWork(ProjectUnitOfWork):
    """A request's transaction: every store sees one tenant's rows, and its actor is on record."""

    _acts = True

    def __init__(self, sessions: Sessions, context: Mapping[str, str], *, quotas: Quotas) -> None:
        super().__init__(sessions, context)
        self._quotas = quotas

    @override
    async def _open(self, session: AsyncSession) -> None:
        project_id = self._context.get("app.project", "")
        self.jobs = JobsInTransaction(self._statements, session, project_id, quotas=self._quotas)
        self.quotas = QuotaStore(session, project_id, self._quotas)
        self._open_project(session, project_id)
        self.streams = StreamStore(session)
        self.outlines = OutlineStore(session)
        self.exports = ExportStore(session, project_id)
        self.permissions = PermissionStore(session, project_id)
        self.stored_completions = StoredCompletionStore(session, project_id)
        self.feedback = FeedbackStore(session, project_id)
        self.feedback_builds = FeedbackBuildStore(session, project_id)
        self.evals = EvalStore(session, project_id)
        self.eval_runs = EvalRunStore(session, project_id)
        self.eval_items = EvalItemStore(session, project_id)
        self.validation_runs = ValidationRunStore(session)
        self.uploads = UploadStore(session, project_id)
        self.webhook_endpoints = WebhookEndpointStore(session, project_id)
        self.keys = KeyStore(session)
        self.dashboard_sessions = SessionStore(session)
        self.projects = ProjectStore(session)
        self.audit_logs = AuditLogStore(session)
        self.usage = UsageStore(session)
        self.service_accounts = ServiceAccountStore(session)
        self.registry = RegistryStore(session, project_id)
        self.students = StudentStore(session, project_id)
        self.skills = SkillStore(session, project_id)
        self.coach_sessions = CoachSessionStore(session, project_id)

    def wrote_end(self) -> bool:
        """Returns True once the end of a job or a run was logged: the log's reader needs a
        notification.
        """
        return wrote_end(self._session)

    def after_end(self, callback: Callback) -> None:
        """Runs after the commit if this transaction has logged such an end."""
        if self.wrote_end():
            self.after_commit(callback)


class RequestUnitOfWork(UnitOfWork):
    """The transaction of a whole request: units of its tenant join it once
    `begin_request_transaction` was called.

    It occupies its `slot` until it ends.
    """

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

    @override
    async def _open(self, session: AsyncSession) -> None:
        await super()._open(session)
        self.stored_responses = IdempotencyStore(session, self._scope)

    def begin_request_transaction(self) -> Callable[[], None]:
        """Lets units join until the returned function is called; they commit with this unit."""
        transaction = RequestTransaction(self._session, self._context)
        self._after_commit = transaction.after_commit
        return register(transaction)


class RunUnitOfWork(ProjectUnitOfWork):
    """A run's transaction. It locks the job row at its own fence, so that no newer claim is
    made before the commit, and an older claim can write nothing.

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
        project_id = self._context["app.project"]
        lease = Lease(self._job_id, project_id, self._fence)
        await lock_held(session, FineTuningJobTable, lease, states=OPEN_JOBS)
        self.jobs = RunJobStore(
            self._statements, session, project_id=project_id, job_id=self._job_id
        )
        self._open_project(session, project_id)
        self.eval_runs = AttachedEvalRunStore(session, project_id)
        self.journal = JournalStore(session, project_id)
