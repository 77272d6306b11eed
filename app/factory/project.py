"""Builds the services of one project."""

from app.domain.accounts.tenants import Tenant
from app.factory.process import ProcessContext
from app.gateways.endpoints.signing import CallSigner, cache_salt
from app.gateways.free_space import FreeSpace
from app.gateways.inference.inference import Inference
from app.gateways.inference.judges import EngineModels
from app.gateways.sandbox.sandbox import Sandbox
from app.services.evals.eval_runs import EvalRunService
from app.services.evals.evals import EvalService
from app.services.evals.validation_runs import ValidationRunService
from app.services.files.files import FileService
from app.services.files.uploads import UploadService
from app.services.jobs.checkpoints import CheckpointService
from app.services.jobs.creation import CreationPorts, JobCreationService
from app.services.jobs.environment_files import EnvironmentFilePorts, EnvironmentFiles
from app.services.jobs.environment_probe import EnvironmentProbe
from app.services.jobs.events import EventService
from app.services.jobs.grader_choices import ChoicePorts, GraderChoiceService
from app.services.jobs.grader_tries import GraderTries
from app.services.jobs.jobs import JobService
from app.services.jobs.mcp_listings import McpListings
from app.services.jobs.metrics import MetricService
from app.services.jobs.preflight import PreflightPorts, PreflightService
from app.services.jobs.references import ReferencePorts, RegisteredReferences
from app.services.jobs.rollouts import RolloutService
from app.services.jobs.sent_requests import SentRequestService
from app.services.jobs.streams import StreamService
from app.services.models.adapters import AdapterService
from app.services.models.chat_completions import ChatCompletionService
from app.services.models.exports import ExportPorts, ExportService
from app.services.models.judge_models import JudgeModels
from app.services.models.models import ModelService
from app.services.registry.baseline_samples import BaselineSamples
from app.services.registry.calibrations import CalibrationService
from app.services.registry.curricula import CurriculumService, DataPorts
from app.services.registry.environments import EnvironmentService
from app.services.registry.graders import RegisteredGraderService
from app.services.registry.mcp_contract import McpContractService
from app.services.registry.mcp_import import McpImportService
from app.services.registry.registered_objects import RegistryPorts
from app.services.registry.tools import ToolService
from app.services.registry.trials import TrialPorts, TrialService
from app.services.webhooks.signing import SigningService
from app.services.webhooks.webhook_endpoints import WebhookEndpointService


class Factory:
    """Builds the services of one tenant."""

    def __init__(self, context: ProcessContext, tenant: Tenant) -> None:
        self._context = context
        self._tenant = tenant

    def jobs(self) -> JobService:
        context = self._context
        return JobService(context.database, context.queue, context.objects, tenant=self._tenant)

    def job_creation(self) -> JobCreationService:
        context = self._context
        return JobCreationService(
            context.database,
            CreationPorts(
                queue=context.queue,
                egress=context.egress,
                secret_box=context.secret_box,
                judge_models=self.judge_models(),
                references=self.references(),
                file_validation=context.file_validation,
            ),
            base_models=context.settings.base_models,
            tenant=self._tenant,
        )

    def preflight(self) -> PreflightService:
        context = self._context
        return PreflightService(
            context.database,
            PreflightPorts(
                context.egress,
                context.objects,
                context.settings.work_dir,
                context.inspections,
                GraderTries(self._sandbox()),
                McpListings(context.egress, self._signer()),
                EnvironmentProbe(context.egress, self._signer()),
            ),
            base_models=context.settings.base_models,
            judges=self.judge_models(),
            tenant=self._tenant,
        )

    def events(self) -> EventService:
        return EventService(self._context.database, self._tenant)

    def sent_requests(self) -> SentRequestService:
        return SentRequestService(self.files())

    def streams(self) -> StreamService:
        return StreamService(self._context.job_watch, self._tenant)

    def checkpoints(self) -> CheckpointService:
        return CheckpointService(self._context.database, self._tenant)

    def metrics(self) -> MetricService:
        return MetricService(self._context.database, self._tenant)

    def rollouts(self) -> RolloutService:
        return RolloutService(self._context.database, self._tenant)

    def evals(self) -> EvalService:
        context = self._context
        ports = RegistryPorts(context.egress, context.secret_box)
        return EvalService(context.database, ports, self._tenant, models=self.judge_models())

    def eval_runs(self) -> EvalRunService:
        context = self._context
        validations = ValidationRunService(
            context.database,
            context.objects,
            base_models=context.settings.base_models,
            tenant=self._tenant,
        )
        return EvalRunService(
            context.database, context.queue, self.models(), validations, tenant=self._tenant
        )

    def files(self) -> FileService:
        return FileService(self._context.database, self._context.objects, self._tenant)

    def uploads(self) -> UploadService:
        return UploadService(self._context.database, self._context.objects, self._tenant)

    def tools(self) -> ToolService:
        context = self._context
        return ToolService(
            context.database,
            RegistryPorts(context.egress, context.secret_box),
            self._tenant,
            secret_keys=context.settings.secret_keys,
            call_timeout_s=context.settings.egress.call_timeout_s,
            slots=context.tool_tests,
            models=self.judge_models(),
        )

    def environments(self) -> EnvironmentService:
        context = self._context
        return EnvironmentService(
            context.database,
            RegistryPorts(context.egress, context.secret_box),
            self._tenant,
            secret_keys=context.settings.secret_keys,
            call_timeout_s=context.settings.egress.call_timeout_s,
            slots=context.environment_tests,
            models=self.judge_models(),
        )

    def graders(self) -> RegisteredGraderService:
        ports = RegistryPorts(self._context.egress, self._context.secret_box)
        return RegisteredGraderService(
            self._context.database, ports, self._tenant, models=self.judge_models()
        )

    def curricula(self) -> CurriculumService:
        context = self._context
        return CurriculumService(
            context.database,
            RegistryPorts(context.egress, context.secret_box),
            self._tenant,
            data=DataPorts(
                self.files(), context.objects, context.settings.work_dir, context.inspections
            ),
        )

    def references(self) -> RegisteredReferences:
        context = self._context
        ports = ChoicePorts(context.objects, context.settings.work_dir, context.inspections)
        choices = GraderChoiceService(context.database, ports, self._tenant)
        curricula = self.curricula()
        environments = EnvironmentFiles(
            context.database,
            EnvironmentFilePorts(
                context.objects, context.settings.work_dir, context.inspections, curricula
            ),
            self._tenant,
        )
        return RegisteredReferences(
            ReferencePorts(
                self.tools(), self.graders(), curricula, choices, environments, self.environments()
            )
        )

    def models(self) -> ModelService:
        return ModelService(
            self._context.database,
            self._context.inference,
            base_models=self._context.settings.base_models,
            tenant=self._tenant,
        )

    def adapters(self) -> AdapterService:
        context = self._context
        return AdapterService(
            self.models(), context.objects, base_models=context.settings.base_models
        )

    def exports(self) -> ExportService:
        context = self._context
        return ExportService(
            context.database,
            ExportPorts(
                self.models(), context.objects, context.queue, FreeSpace.of(context.settings)
            ),
            base_models=context.settings.base_models,
            tenant=self._tenant,
        )

    def signing(self) -> SigningService:
        secret_key = self._context.settings.secret_key.get_secret_value()
        return SigningService(secret_key=secret_key, tenant=self._tenant)

    def webhook_endpoints(self) -> WebhookEndpointService:
        database, egress = self._context.database, self._context.egress
        return WebhookEndpointService(database, egress, self._context.secret_box, self._tenant)

    def judge_models(self) -> JudgeModels:
        settings = self._context.settings
        return JudgeModels(self.models(), settings.judges, embeddings=settings.embeddings)

    def trials(self) -> TrialService:
        context, models, settings = self._context, self.judge_models(), self._context.settings
        ports = TrialPorts(
            egress=context.egress,
            judge_egress=context.judge_egress,
            engine=EngineModels(self._engine(), context.adapters, models.find),
            signer=self._signer(),
            sandbox=self._sandbox(),
            computing=lambda: context.computing.of(
                self._tenant.organization_id, self._tenant.project_id
            ),
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
            BaselineSamples(self._context.database, self._tenant, files),
            slot=lambda: self._context.calibrations.taken(self._tenant.organization_id),
        )

    def completions(self) -> ChatCompletionService:
        return ChatCompletionService(
            self.models(),
            self._engine(),
            self._context.adapters,
            slots=self._context.chats,
            usage=self._context.chat_usage,
            tenant=self._tenant,
        )

    def mcp_tests(self) -> McpContractService:
        context = self._context
        return McpContractService(
            context.egress,
            self.judge_models(),
            self._signer(),
            limits=context.settings.egress,
            slots=context.tool_tests,
            project_id=self._tenant.project_id,
        )

    def mcp_import(self) -> McpImportService:
        return McpImportService(self.mcp_tests(), self.tools())

    def _signer(self) -> CallSigner:
        return CallSigner(*self._context.settings.secret_keys, project_id=self._tenant.project_id)

    def _sandbox(self) -> Sandbox:
        """Returns the sandbox with the slots of the tenant."""
        organization_id, project_id = self._tenant.organization_id, self._tenant.project_id
        return self._context.sandbox.for_project(organization_id, project_id)

    def _engine(self) -> Inference:
        """Returns the engine with a separate prompt cache for the tenant."""
        secret_key = self._context.settings.secret_key.get_secret_value()
        salt = cache_salt(secret_key, self._tenant.project_id)
        return self._context.inference.with_cache_namespace(salt)
