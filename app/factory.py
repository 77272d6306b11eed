"""Builds services from stores and gateways; the only module that imports all three."""

from dataclasses import dataclass, field
from typing import Self

from app.domain.accounts.tenants import AdminPrincipal, Tenant
from app.gateways.egress.client import build_egress
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.signing import CallSigner, cache_salt
from app.gateways.free_space import FreeSpace
from app.gateways.inference.adapters import AdapterCache, build_adapter_cache
from app.gateways.inference.http import HttpInference
from app.gateways.inference.inference import Inference
from app.gateways.inference.judges import EngineModels, build_judge_egress
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.gateways.objects import Objects, build_objects
from app.gateways.rate_limits import RateLimits, RedisRateLimits
from app.gateways.secrets import SecretBox, build_secret_box
from app.services.accounts.admin_keys import AdminKeyService
from app.services.accounts.keys import KeyService
from app.services.accounts.project_keys import ProjectKeyService
from app.services.accounts.projects import ProjectService
from app.services.accounts.provisioning import ProvisioningService
from app.services.accounts.service_accounts import ServiceAccountService
from app.services.evals.eval_runs import EvalRunService
from app.services.evals.evals import EvalService
from app.services.evals.validation_runs import ValidationRunService
from app.services.files.files import FileService
from app.services.files.uploads import UploadService
from app.services.health import HealthPorts, HealthService
from app.services.idempotency import IdempotencyService
from app.services.jobs.checkpoints import CheckpointService
from app.services.jobs.events import EventService
from app.services.jobs.file_validation import FileValidation, FileValidationPorts
from app.services.jobs.inspections import Inspections
from app.services.jobs.jobs import JobPorts, JobService
from app.services.jobs.metrics import MetricService
from app.services.jobs.preflight import PreflightPorts, PreflightService
from app.services.jobs.references import ReferencePorts, RegisteredReferences
from app.services.jobs.rollouts import RolloutService
from app.services.models.adapters import AdapterService
from app.services.models.chat_completions import ChatCompletionService, chat_slots
from app.services.models.judge_models import JudgeModels
from app.services.models.models import ModelService
from app.services.models.permissions import PermissionService
from app.services.project_slots import ProjectSlots
from app.services.registry.curricula import CurriculumService, DataPorts
from app.services.registry.registered_graders import RegisteredGraderService
from app.services.registry.registered_objects import RegistryPorts
from app.services.registry.tools import ToolService, tool_test_slots
from app.services.registry.trials import TrialPorts, TrialService
from app.services.rewrapping import RewrappingService
from app.services.webhooks.signing import SigningService
from app.services.webhooks.webhook_endpoints import WebhookEndpointService
from app.settings import Settings
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """The pools and clients of a process, which all services share."""

    settings: Settings
    database: Database
    objects: Objects
    adapters: AdapterCache
    queue: JobQueue
    egress: Egress
    judge_egress: Egress
    """Egress to the operator's own judges; never used for customers' addresses."""
    inference: Inference
    secret_box: SecretBox
    keys: KeyService
    rate_limits: RateLimits
    inspections: Inspections
    health: HealthService
    chats: ProjectSlots
    file_validation: FileValidation
    requests: ProjectSlots
    downloads: ProjectSlots
    tool_tests: ProjectSlots = field(default_factory=tool_test_slots)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        database = Database(settings.database_url, quotas=settings.quotas)
        objects = build_objects(settings)
        queue, inspections = CeleryJobQueue(settings.redis_url), Inspections()
        file_validation = FileValidation(
            FileValidationPorts(database, objects, queue, inspections, settings.work_dir),
            base_models=settings.base_models,
            after_s=settings.validate_files_after_s,
        )
        inference = HttpInference(
            settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
        )
        return cls(
            settings=settings,
            database=database,
            objects=objects,
            adapters=build_adapter_cache(settings, objects),
            queue=queue,
            egress=build_egress(settings.egress),
            judge_egress=build_judge_egress(settings.judges, settings.egress),
            inference=inference,
            health=HealthService(HealthPorts(database, queue, inference, FreeSpace.of(settings))),
            secret_box=build_secret_box(settings),
            keys=build_key_service(settings, database),
            rate_limits=RedisRateLimits(
                settings.redis_url, requests_per_minute=settings.requests_per_minute
            ),
            inspections=inspections,
            chats=chat_slots(settings.quotas.chats_in_flight),
            file_validation=file_validation,
            requests=ProjectSlots(settings.quotas.requests_in_flight, noun="requests"),
            downloads=ProjectSlots(settings.quotas.downloads_in_flight, noun="downloads"),
        )

    def key_service(self) -> KeyService:
        return self.keys

    def idempotency(self) -> IdempotencyService:
        return IdempotencyService(self.database, self.secret_box)

    async def aclose(self) -> None:
        await self.file_validation.aclose()
        await self.egress.aclose()
        await self.judge_egress.aclose()
        await self.inference.aclose()
        await self.queue.aclose()
        await self.rate_limits.aclose()
        await self.database.dispose()


def build_key_service(settings: Settings, database: Database) -> KeyService:
    return KeyService(database, secret_key=settings.key_hmac, older_keys=settings.older_key_hmacs)


def provisioning_service(settings: Settings, database: Database) -> ProvisioningService:
    return ProvisioningService(database, build_key_service(settings, database))


def rewrapping_service(settings: Settings, database: Database) -> RewrappingService:
    """`database`: as the tables' owner."""
    head = build_key_service(settings, database).digest_head
    return RewrappingService(database, build_secret_box(settings), api_key_head=head)


def permission_service(
    context: ProcessContext, principal: Tenant | AdminPrincipal
) -> PermissionService:
    return PermissionService(context.database, principal)


class Factory:
    """Builds the services of one tenant."""

    def __init__(self, context: ProcessContext, tenant: Tenant) -> None:
        self._context = context
        self._tenant = tenant

    def jobs(self) -> JobService:
        context = self._context
        return JobService(
            context.database,
            JobPorts(
                queue=context.queue,
                objects=context.objects,
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
                context.egress, context.objects, context.settings.work_dir, context.inspections
            ),
            base_models=context.settings.base_models,
            judges=self.judge_models(),
            tenant=self._tenant,
        )

    def events(self) -> EventService:
        return EventService(self._context.database, self._tenant)

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

    def registered_graders(self) -> RegisteredGraderService:
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
        return RegisteredReferences(
            ReferencePorts(self.tools(), self.registered_graders(), self.curricula())
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

    def signing(self) -> SigningService:
        return SigningService(
            secret_key=self._context.settings.secret_key.get_secret_value(), tenant=self._tenant
        )

    def webhook_endpoints(self) -> WebhookEndpointService:
        context = self._context
        return WebhookEndpointService(
            context.database, context.egress, context.secret_box, self._tenant
        )

    def judge_models(self) -> JudgeModels:
        return JudgeModels(self.models(), self._context.settings.judges)

    def trials(self) -> TrialService:
        context, models = self._context, self.judge_models()
        ports = TrialPorts(
            egress=context.egress,
            judge_egress=context.judge_egress,
            engine=EngineModels(self._engine(), context.adapters, models.find),
            signer=CallSigner(*context.settings.secret_keys, project_id=self._tenant.project_id),
        )
        settings = context.settings
        return TrialService(ports, models, limits=settings.egress, judges=settings.judges)

    def completions(self) -> ChatCompletionService:
        return ChatCompletionService(
            self.models(),
            self._engine(),
            self._context.adapters,
            slots=self._context.chats,
            tenant=self._tenant,
        )

    def _engine(self) -> Inference:
        """Returns the engine with a separate prompt cache for the tenant."""
        secret_key = self._context.settings.secret_key.get_secret_value()
        return self._context.inference.with_cache_namespace(
            cache_salt(secret_key, self._tenant.project_id)
        )


class Administration:
    """Builds the services of an organization's administration."""

    def __init__(self, context: ProcessContext, principal: AdminPrincipal) -> None:
        self._context = context
        self._principal = principal

    def projects(self) -> ProjectService:
        return ProjectService(
            self._context.database,
            self._principal,
            work_of=lambda tenant: Factory(self._context, tenant),
        )

    def admin_keys(self) -> AdminKeyService:
        return AdminKeyService(self._context.database, self._context.keys, self._principal)

    def project_keys(self, project_id: str) -> ProjectKeyService:
        return ProjectKeyService(self._context.database, self._principal, project_id=project_id)

    def service_accounts(self, project_id: str) -> ServiceAccountService:
        return ServiceAccountService(
            self._context.database, self._context.keys, self._principal, project_id=project_id
        )
