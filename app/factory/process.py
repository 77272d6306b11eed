"""Builds the shared parts of the services of one API process: pools, clients, limits."""

from dataclasses import dataclass, field
from typing import Any, Final, Self

from app.factory.accounts import build_key_service
from app.gateways.egress.client import build_egress
from app.gateways.egress.egress import Egress
from app.gateways.free_space import FreeSpace
from app.gateways.inference.adapters import AdapterCache, build_adapter_cache
from app.gateways.inference.http import HttpInference
from app.gateways.inference.inference import Inference
from app.gateways.inference.judges import build_judge_egress
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.gateways.objects import Objects, build_objects
from app.gateways.rate_limits import RateLimits, RedisRateLimits
from app.gateways.sandbox.client import build_sandbox
from app.gateways.sandbox.sandbox import SharedSandbox
from app.gateways.secrets import SecretBox, build_secret_box
from app.grading.computing import ComputingShares
from app.services.accounts.dashboard_sessions import DashboardSessionService
from app.services.accounts.keys import KeyService
from app.services.files.inspections import Inspections
from app.services.idempotency import IdempotencyService
from app.services.jobs.file_validation import FileValidation, FileValidationPorts
from app.services.jobs.streams import JobWatch
from app.services.models.chat_completions import chat_slots
from app.services.models.chat_usage import ChatUsage
from app.services.processes.health import HealthPorts, HealthService
from app.services.processes.monitoring import MonitoringService
from app.services.registry.calibrations.calibrations import calibration_slots
from app.services.registry.environments import environment_test_slots
from app.services.registry.scenarios import scenario_slots
from app.services.registry.tools import tool_test_slots
from app.settings.settings import Settings
from app.slots.project_slots import ProjectSlots
from app.slots.shared_slots import SharedSlots
from app.store.database import Database

_SANDBOX_PATIENCE_S: Final = 5.0
"""Seconds for which a trial waits for a runner that restarts."""
_SANDBOX_WAIT_S: Final = 60.0
"""Seconds for which a caller's program waits for its start, half the time of a trial."""


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
    """Egress to the operator's own judges and embeddings; never used for customers' addresses."""
    inference: Inference
    sandbox: SharedSandbox
    secret_box: SecretBox
    keys: KeyService
    rate_limits: RateLimits
    inspections: Inspections
    health: HealthService
    chats: ProjectSlots
    chat_usage: ChatUsage
    file_validation: FileValidation
    requests: ProjectSlots
    downloads: ProjectSlots
    streams: ProjectSlots
    job_watch: JobWatch
    exports: SharedSlots = field(default_factory=lambda: SharedSlots(2))
    """Slots for reads of exports, one of each organization: a read may hold many megabytes of rows
    and a connection to the database.
    """
    tool_tests: ProjectSlots = field(default_factory=tool_test_slots)
    environment_tests: ProjectSlots = field(default_factory=environment_test_slots)
    computing: ComputingShares = field(default_factory=ComputingShares)
    scenarios: ProjectSlots = field(default_factory=scenario_slots)
    calibrations: ProjectSlots = field(default_factory=calibration_slots)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        database = Database(settings.database_url, quotas=settings.quotas)
        objects = build_objects(settings)
        queue = CeleryJobQueue(settings.redis_url)
        inspections = Inspections(objects, settings.work_dir)
        file_validation = FileValidation(
            FileValidationPorts(database, queue, inspections),
            base_models=settings.base_models,
            after_s=settings.validate_files_after_s,
        )
        inference = HttpInference(
            settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
        )
        sandbox = build_sandbox(settings, patience_s=_SANDBOX_PATIENCE_S, wait_s=_SANDBOX_WAIT_S)
        return cls(
            settings=settings,
            database=database,
            objects=objects,
            adapters=build_adapter_cache(settings, objects),
            queue=queue,
            egress=build_egress(settings.egress),
            judge_egress=build_judge_egress(
                settings.judges, settings.egress, embeddings=settings.embeddings
            ),
            inference=inference,
            sandbox=sandbox,
            health=HealthService(
                HealthPorts(database, queue, inference, FreeSpace.of(settings), sandbox)
            ),
            secret_box=build_secret_box(settings),
            keys=build_key_service(settings, database),
            rate_limits=RedisRateLimits(
                settings.redis_url, requests_per_minute=settings.requests_per_minute
            ),
            inspections=inspections,
            chats=chat_slots(settings.quotas.chats_in_flight),
            chat_usage=ChatUsage(database, settings.pricing, flush_s=settings.usage_flush_s),
            file_validation=file_validation,
            requests=ProjectSlots(settings.quotas.requests_in_flight, noun="requests"),
            downloads=ProjectSlots(settings.quotas.downloads_in_flight, noun="downloads"),
            streams=ProjectSlots(settings.quotas.streams_in_flight, noun="live streams"),
            job_watch=JobWatch(database, heartbeat_s=settings.stream_heartbeat_s),
        )

    def key_service(self) -> KeyService:
        return self.keys

    def dashboard_sessions(self) -> DashboardSessionService:
        return DashboardSessionService(self.database, self.keys)

    def monitoring(self) -> MonitoringService:
        return MonitoringService(self.database, self.health)

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
    """Returns the context that an application's start has put into its state."""
    context = application.state.context
    if not isinstance(context, ProcessContext):
        raise TypeError("the application was started without a context")
    return context
