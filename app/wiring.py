"""Joins services with stores and gateways: of a process, of a tenant, of an administration."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, TypeVar

from app.accounts.key_service import AdminKeyService, DashboardSessionService, KeyService
from app.accounts.service import (
    ProjectKeyService,
    ProjectService,
    ProvisioningService,
    ServiceAccountService,
)
from app.accounts.usage_service import AuditLogService, UsageService
from app.curricula.maker import CurriculumMaker, CurriculumMakerPorts
from app.curricula.scenarios import scenario_slots
from app.curricula.service import CurriculumService, DataPorts
from app.database import Database
from app.evals.service import EvalRunService, EvalService, ValidationRunService
from app.files.hub_data_sets import HubLocation
from app.files.row_files import Inspections, RowFiles
from app.files.service import FileService
from app.files.upload_service import UploadService
from app.graders.calibration_service import BaselineSamples, CalibrationService, calibration_slots
from app.graders.judge_calls import EngineModels, build_judge_egress
from app.graders.scorer import ComputingShares
from app.graders.service import RegisteredGraderService
from app.http.health import HealthPorts, HealthService
from app.http.idempotency import IdempotencyService
from app.http.rate_limits import RedisRateLimits
from app.jobs.creation import CreationPorts, JobCreationService, RegisteredReferences
from app.jobs.preflight_service import CallCheck, PreflightPorts, PreflightService, ReadableCalls
from app.jobs.probes import EndpointProbes, GraderTries
from app.jobs.service import CurveService, EventService, FileValidation, JobService
from app.jobs.streams import JobWatch, StreamService
from app.kit.callers import AdminPrincipal, Principal, Tenant
from app.kit.directories import FreeSpace
from app.kit.egress import Egress, EgressPolicy, ProjectEgress
from app.kit.egress_client import build_egress
from app.kit.endpoints import CallSigner, cache_salt
from app.kit.job_queue import CeleryJobQueue
from app.kit.objects import build_objects
from app.kit.sealing import build_secret_box
from app.kit.slots import ProjectSlots, SharedSlots
from app.kit.texts import Redaction, nothing, shaped_data
from app.models.chat_service import ChatCompletionService, StoredCompletionService, chat_slots
from app.models.chat_usage import ChatUsage
from app.models.engine import Inference, build_adapter_cache
from app.models.engine_http import HttpInference
from app.models.export_service import AdapterService, ExportPorts, ExportService
from app.models.service import JudgeModels, ModelService, PermissionService
from app.rewrapping import RewrappingService
from app.rollouts.report_service import ReportService
from app.rollouts.service import HeldOutRowService, RolloutService
from app.settings import Settings
from app.teaching.coach.driver import CoachDriver, CoachPorts, CoachRunner
from app.teaching.coach.evidence import EvidenceReader
from app.teaching.coach.service import CoachSessionPorts, CoachSessionService
from app.teaching.coach.session_files import ChildJobs, SessionFiles
from app.teaching.feedback.service import (
    BuildPorts,
    EndUserService,
    FeedbackBuildService,
    FeedbackService,
)
from app.teaching.recipes.service import OwnRecipeService, RecipeService
from app.teaching.students.service import StudentService
from app.tools.definition_check import RegisteredEndpointService
from app.tools.mcp_contract import McpContractService
from app.tools.registry_service import RegistryPorts, RegistryService
from app.tools.sandbox import Sandbox, build_sandbox
from app.tools.service import (
    EnvironmentService,
    McpImportService,
    ToolService,
    environment_test_slots,
    tool_test_slots,
)
from app.tools.trial_service import TrialPorts, TrialService
from app.webhooks.service import SigningService, WebhookEndpointService


def build_key_service(settings: Settings, database: Database) -> KeyService:
    return KeyService(database, secret_key=settings.key_hmac, older_keys=settings.older_key_hmacs)


def provisioning_service(settings: Settings, database: Database) -> ProvisioningService:
    return ProvisioningService(database, build_key_service(settings, database))


def dashboard_session_service(settings: Settings, database: Database) -> DashboardSessionService:
    return DashboardSessionService(database, build_key_service(settings, database))


def rewrapping_service(settings: Settings, database: Database) -> RewrappingService:
    head = build_key_service(settings, database).digest_head
    return RewrappingService(database, build_secret_box(settings), api_key_head=head)


class ProcessContext:
    def __init__(self, settings: Settings) -> None:
        quotas, redis_url = settings.quotas, settings.redis_url
        self.settings = settings
        self.database = Database(settings.database_url, quotas=quotas)
        self.objects = build_objects(settings)
        self.adapters = build_adapter_cache(settings, self.objects)
        self.queue = CeleryJobQueue(redis_url)
        self.egress = build_egress(settings.egress)
        # To the operator's own judges and embeddings; never used for customers' addresses.
        self.judge_egress = build_judge_egress(
            settings.judges, settings.egress, embeddings=settings.embeddings
        )
        self.inference = HttpInference(
            settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
        )
        # A trial waits for a runner that restarts, and half of its time for its start.
        self.sandbox = build_sandbox(settings, patience_s=5.0, wait_s=60.0)
        self.secret_box = build_secret_box(settings)
        self.keys = build_key_service(settings, self.database)
        per_minute = settings.requests_per_minute
        self.rate_limits = RedisRateLimits(redis_url, requests_per_minute=per_minute)
        self.inspections = Inspections(self.objects, settings.work_dir)
        space = FreeSpace.of(settings)
        self.health = HealthService(
            HealthPorts(self.database, self.queue, self.inference, space, self.sandbox)
        )
        self.chats = chat_slots(quotas.chats_in_flight)
        self.chat_usage = ChatUsage(self.database, settings.pricing, flush_s=settings.usage_flush_s)
        self.file_validation = FileValidation(
            self.database,
            self.queue,
            self.inspections,
            base_models=settings.base_models,
            after_s=settings.validate_files_after_s,
        )
        self.requests = ProjectSlots(quotas.requests_in_flight, noun="requests")
        self.downloads = ProjectSlots(quotas.downloads_in_flight, noun="downloads")
        self.streams = ProjectSlots(quotas.streams_in_flight, noun="live streams")
        self.job_watch = JobWatch(self.database, heartbeat_s=settings.stream_heartbeat_s)
        # A read of an export may hold many megabytes, and a connection to the database.
        self.exports = SharedSlots(2)
        self.tool_tests, self.environment_tests = tool_test_slots(), environment_test_slots()
        self.computing, self.scenarios = ComputingShares(), scenario_slots()
        self.calibrations = calibration_slots()

    def dashboard_sessions(self) -> DashboardSessionService:
        return DashboardSessionService(self.database, self.keys)

    def idempotency(self) -> IdempotencyService:
        return IdempotencyService(self.database, self.secret_box)

    async def aclose(self) -> None:
        await self.chat_usage.aclose()
        await self.job_watch.aclose()
        await self.file_validation.aclose()
        await self.egress.aclose()
        await self.judge_egress.aclose()
        await self.inference.aclose()
        await self.queue.aclose()
        await self.rate_limits.aclose()
        await self.database.dispose()


def context_of(application: Any) -> ProcessContext:
    context = application.state.context
    if not isinstance(context, ProcessContext):
        raise TypeError("the application was started without a context")
    return context


_EndpointService = TypeVar("_EndpointService", bound=RegisteredEndpointService)


class Factory:
    def __init__(self, context: ProcessContext, tenant: Tenant) -> None:
        self._context, self._tenant = context, tenant
        self._database, self._settings = context.database, context.settings
        self._base_models = context.settings.base_models
        self._secret_key = context.settings.secret_key.get_secret_value()
        self._owner = tenant.organization_id, tenant.project_id

    def _signer(self) -> CallSigner:
        return CallSigner(*self._settings.secret_keys, project_id=self._tenant.project_id)

    def _egress(self) -> Egress:
        return ProjectEgress(self._context.egress, *self._owner)

    def _sandbox(self) -> Sandbox:
        return self._context.sandbox.for_project(*self._owner)

    def _engine(self) -> Inference:
        salt = cache_salt(self._secret_key, self._tenant.project_id)
        return self._context.inference.with_cache_namespace(salt)

    def _redaction(self) -> Redaction:
        return shaped_data if self._settings.redact_stored_texts else nothing

    def _registry_ports(self) -> RegistryPorts:
        return RegistryPorts(self._egress(), self._context.secret_box)

    def files(self) -> FileService:
        return FileService(self._database, self._context.objects, self._tenant)

    def row_files(self) -> RowFiles:
        return RowFiles(self.files())

    def uploads(self) -> UploadService:
        return UploadService(self._database, self._context.objects, self._tenant)

    def models(self) -> ModelService:
        return ModelService(
            self._database,
            self._context.inference,
            base_models=self._base_models,
            tenant=self._tenant,
        )

    def adapters(self) -> AdapterService:
        return AdapterService(self.models(), self._context.objects, base_models=self._base_models)

    def exports(self) -> ExportService:
        ports = ExportPorts(
            models=self.models(),
            objects=self._context.objects,
            queue=self._context.queue,
            space=FreeSpace.of(self._settings),
            base_models=self._base_models,
        )
        return ExportService(self._database, ports, self._tenant)

    def judge_models(self) -> JudgeModels:
        settings = self._settings
        return JudgeModels(self.models(), settings.judges, embeddings=settings.embeddings)

    def stored_completions(self) -> StoredCompletionService:
        return StoredCompletionService(self._database, self._tenant, redaction=self._redaction())

    def completions(self) -> ChatCompletionService:
        return ChatCompletionService(
            self.models(),
            self._engine(),
            self._context.adapters,
            slots=self._context.chats,
            usage=self._context.chat_usage,
            stored=self.stored_completions(),
            tenant=self._tenant,
        )

    def tools(self) -> ToolService:
        return self._endpoints(ToolService, self._context.tool_tests)

    def environments(self) -> EnvironmentService:
        return self._endpoints(EnvironmentService, self._context.environment_tests)

    def _endpoints(self, service: type[_EndpointService], slots: ProjectSlots) -> _EndpointService:
        return service(
            self._database,
            self._registry_ports(),
            self._tenant,
            secret_keys=self._settings.secret_keys,
            call_timeout_s=self._settings.egress.call_timeout_s,
            slots=slots,
            models=self.judge_models(),
        )

    def endpoints(self, kind: Literal["tools", "graders", "environments"]) -> RegistryService:
        made: dict[str, Callable[[], RegistryService]] = {
            "tools": self.tools,
            "graders": self.graders,
            "environments": self.environments,
        }
        return made[kind]()

    def graders(self) -> RegisteredGraderService:
        return RegisteredGraderService(
            self._database, self._registry_ports(), self._tenant, models=self.judge_models()
        )

    def curricula(self) -> CurriculumService:
        context = self._context
        data = DataPorts(self.files(), self.row_files(), context.objects, context.inspections)
        return CurriculumService(self._database, self._registry_ports(), self._tenant, data=data)

    def curriculum_maker(self) -> CurriculumMaker:
        egress, hub = self._settings.egress, self._settings.hub
        policy = EgressPolicy(frozenset(egress.allow_endpoints), egress.allow_plain_http)
        ports = CurriculumMakerPorts(
            self.row_files(),
            self._context.inspections,
            self.curricula(),
            HubLocation(hub.endpoint, policy, hub.data_sets_dir),
        )
        return CurriculumMaker(self._database, ports, self._tenant)

    def trials(self) -> TrialService:
        context, models, settings = self._context, self.judge_models(), self._settings
        ports = TrialPorts(
            egress=self._egress(),
            judge_egress=context.judge_egress,
            engine=EngineModels(self._engine(), context.adapters, models.find),
            signer=self._signer(),
            sandbox=self._sandbox(),
            computing=lambda: context.computing.of(*self._owner),
            writing=lambda: context.scenarios.taken(self._tenant.project_id),
        )
        return TrialService(
            ports,
            models,
            limits=settings.egress,
            judges=settings.judges,
            embeddings=settings.embeddings,
        )

    def calibrations(self) -> CalibrationService:
        files = self.files()
        return CalibrationService(
            self.trials(),
            files,
            BaselineSamples(self._database, self._tenant, files),
            slot=lambda: self._context.calibrations.taken(self._tenant.organization_id),
        )

    def mcp_tests(self) -> McpContractService:
        return McpContractService(
            self._egress(),
            self.judge_models(),
            self._signer(),
            limits=self._settings.egress,
            slots=self._context.tool_tests,
            project_id=self._tenant.project_id,
        )

    def mcp_import(self) -> McpImportService:
        return McpImportService(self.mcp_tests(), self.tools())

    def evals(self) -> EvalService:
        return EvalService(
            self._database, self._registry_ports(), self._tenant, models=self.judge_models()
        )

    def eval_runs(self) -> EvalRunService:
        validations = ValidationRunService(
            self._database,
            self._context.objects,
            base_models=self._base_models,
            tenant=self._tenant,
        )
        return EvalRunService(
            self._database, self._context.queue, self.models(), validations, tenant=self._tenant
        )

    def feedback(self) -> FeedbackService:
        return FeedbackService(self._database, self._tenant, redaction=self._redaction())

    def feedback_builds(self) -> FeedbackBuildService:
        return FeedbackBuildService(self._database, self._build_ports(), self._tenant)

    def end_users(self) -> EndUserService:
        return EndUserService(self._database, self._build_ports(), self._tenant)

    def _build_ports(self) -> BuildPorts:
        return BuildPorts(self.feedback(), self.files(), self.row_files(), self.curricula())

    def jobs(self) -> JobService:
        context = self._context
        return JobService(self._database, context.queue, context.objects, tenant=self._tenant)

    def job_creation(self) -> JobCreationService:
        ports = CreationPorts(
            queue=self._context.queue,
            egress=self._egress(),
            secret_box=self._context.secret_box,
            judge_models=self.judge_models(),
            references=self.references(),
            file_validation=self._context.file_validation,
            base_models=self._base_models,
        )
        return JobCreationService(self._database, ports, self._tenant)

    def preflight(self) -> PreflightService:
        ports = PreflightPorts(
            probes=EndpointProbes(self._egress(), self._signer()),
            inspections=self._context.inspections,
            tries=GraderTries(self.trials().grading(max_retries=0)),
            judges=self.judge_models(),
            base_models=self._base_models,
        )
        return PreflightService(self._database, ports, self._tenant)

    def call_check(self) -> CallCheck:
        return CallCheck(self.readable_calls(), self.job_creation(), self.preflight())

    def references(self) -> RegisteredReferences:
        return RegisteredReferences(self._database, self._context.inspections, self, self._tenant)

    def readable_calls(self) -> ReadableCalls:
        return ReadableCalls(self.references())

    def events(self) -> EventService:
        return EventService(self._database, self._tenant)

    def held_out_rows(self) -> HeldOutRowService:
        return HeldOutRowService(self.files())

    def streams(self) -> StreamService:
        return StreamService(self._context.job_watch, self._tenant)

    def curves(self) -> CurveService:
        return CurveService(self._database, self._tenant)

    def rollouts(self) -> RolloutService:
        return RolloutService(self._database, self._tenant)

    def reports(self) -> ReportService:
        return ReportService(
            self._database, self.rollouts(), self._tenant, base_models=self._base_models
        )

    def recipes(self) -> RecipeService:
        ports, models = self._registry_ports(), self.judge_models()
        return RecipeService(OwnRecipeService(self._database, ports, self._tenant, models=models))

    def students(self) -> StudentService:
        return StudentService(
            self._database,
            self._context.queue,
            inspections=self._context.inspections,
            base_models=self._base_models,
            tenant=self._tenant,
        )

    def signing(self) -> SigningService:
        return SigningService(secret_key=self._secret_key, tenant=self._tenant)

    def webhook_endpoints(self) -> WebhookEndpointService:
        return WebhookEndpointService(
            self._database,
            self._egress(),
            self._context.secret_box,
            self._tenant,
            notify=self._context.queue.enqueue_deliveries,
        )

    def coach_sessions(self) -> CoachSessionService:
        ports = CoachSessionPorts(
            self.references(), self._session_files(), self.jobs(), self._context.secret_box
        )
        return CoachSessionService(self._database, ports, self._tenant)

    def coach_driver(self) -> CoachDriver:
        files, box = self._session_files(), self._context.secret_box
        ports = CoachPorts(
            evidence=EvidenceReader(self._database, files, self.students()),
            children=ChildJobs(self.job_creation(), files, box, self._tenant.project_id),
            jobs=self.jobs(),
            students=self.students(),
        )
        return CoachDriver(self._database, ports, self._tenant)

    def _session_files(self) -> SessionFiles:
        inspections = self._context.inspections
        return SessionFiles(self._database, inspections, self.row_files(), self._tenant)


def coach_runner(context: ProcessContext) -> CoachRunner:
    return CoachRunner(
        context.database,
        lambda tenant: Factory(context, tenant).coach_driver(),
        poll_s=context.settings.coach_poll_s,
    )


class Administration:
    def __init__(self, context: ProcessContext, principal: AdminPrincipal) -> None:
        self._context, self._principal = context, principal
        self._database = context.database

    def projects(self) -> ProjectService:
        return ProjectService(
            self._database,
            self._principal,
            work_of=lambda tenant: Factory(self._context, tenant),
            quotas=self._context.settings.quotas,
        )

    def admin_keys(self) -> AdminKeyService:
        return AdminKeyService(self._database, self._context.keys, self._principal)

    def audit_logs(self) -> AuditLogService:
        return AuditLogService(self._database, self._principal)

    def usage(self) -> UsageService:
        return usage_service(self._context, self._principal)

    def export_turn(self) -> AbstractAsyncContextManager[None]:
        organization_id = self._principal.organization_id
        return self._context.exports.taken(organization_id, organization_id)

    def project_keys(self, project_id: str) -> ProjectKeyService:
        return ProjectKeyService(self._database, self._principal, project_id=project_id)

    def service_accounts(self, project_id: str) -> ServiceAccountService:
        return ServiceAccountService(
            self._database, self._context.keys, self._principal, project_id=project_id
        )


def usage_service(context: ProcessContext, principal: Principal) -> UsageService:
    return UsageService(context.database, principal, context.settings.pricing)


def permission_service(context: ProcessContext, principal: Principal) -> PermissionService:
    return PermissionService(context.database, principal)
