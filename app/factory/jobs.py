"""Builds the services of fine-tuning jobs."""

from app.factory.registry import RegistryServices
from app.services.jobs.checkpoints import CheckpointService
from app.services.jobs.creation.creation import CreationPorts, JobCreationService
from app.services.jobs.creation.definitions import RegisteredDefinitions
from app.services.jobs.creation.environment_files import EnvironmentFiles
from app.services.jobs.creation.grader_choices import GraderChoiceService
from app.services.jobs.creation.references import RegisteredReferences
from app.services.jobs.curve_points import CurvePointService
from app.services.jobs.curves import CurveService
from app.services.jobs.events import EventService
from app.services.jobs.held_out_rows import HeldOutRowService
from app.services.jobs.jobs import JobService
from app.services.jobs.preflight.call_check import CallCheck
from app.services.jobs.preflight.endpoint_probes import EndpointProbes
from app.services.jobs.preflight.environment_probe import EnvironmentProbe
from app.services.jobs.preflight.grader_tries import GraderTries
from app.services.jobs.preflight.mcp_listings import McpListings
from app.services.jobs.preflight.preflight import PreflightPorts, PreflightService
from app.services.jobs.preflight.readable_calls import ReadableCalls
from app.services.jobs.rollouts import RolloutService
from app.services.jobs.sent_requests import SentRequestService
from app.services.jobs.streams import StreamService
from app.services.recipes.recipes import RecipeService
from app.services.registry.recipes import OwnRecipeService


class JobServices(RegistryServices):
    def jobs(self) -> JobService:
        context = self._context
        return JobService(context.database, context.queue, context.objects, tenant=self._tenant)

    def job_creation(self) -> JobCreationService:
        context = self._context
        ports = CreationPorts(
            queue=context.queue,
            egress=self._egress(),
            secret_box=context.secret_box,
            judge_models=self.judge_models(),
            references=self.references(),
            file_validation=context.file_validation,
            base_models=context.settings.base_models,
        )
        return JobCreationService(context.database, ports, self._tenant)

    def preflight(self) -> PreflightService:
        context = self._context
        environments = EnvironmentProbe(self._egress(), self._signer())
        ports = PreflightPorts(
            endpoints=EndpointProbes(self._egress(), environments),
            inspections=context.inspections,
            tries=GraderTries(self._sandbox()),
            mcp=McpListings(self._egress(), self._signer()),
            judges=self.judge_models(),
            base_models=context.settings.base_models,
        )
        return PreflightService(context.database, ports, self._tenant)

    def call_check(self) -> CallCheck:
        return CallCheck(self.readable_calls(), self.job_creation(), self.preflight())

    def references(self) -> RegisteredReferences:
        return RegisteredReferences(RegisteredDefinitions(self))

    def readable_calls(self) -> ReadableCalls:
        return ReadableCalls(RegisteredDefinitions(self))

    def grader_choices(self) -> GraderChoiceService:
        context = self._context
        return GraderChoiceService(context.database, context.inspections, self._tenant)

    def environment_files(self) -> EnvironmentFiles:
        context = self._context
        return EnvironmentFiles(
            context.database, context.inspections, row_files=self.row_files(), tenant=self._tenant
        )

    def events(self) -> EventService:
        return EventService(self._context.database, self._tenant)

    def sent_requests(self) -> SentRequestService:
        return SentRequestService(self.files())

    def held_out_rows(self) -> HeldOutRowService:
        return HeldOutRowService(self.files())

    def streams(self) -> StreamService:
        return StreamService(self._context.job_watch, self._tenant)

    def checkpoints(self) -> CheckpointService:
        return CheckpointService(self._context.database, self._tenant)

    def curve_points(self) -> CurvePointService:
        return CurvePointService(self._context.database, self._tenant)

    def curves(self) -> CurveService:
        return CurveService(self._context.database, self._tenant)

    def rollouts(self) -> RolloutService:
        return RolloutService(self._context.database, self._tenant)

    def recipes(self) -> RecipeService:
        context = self._context
        own = OwnRecipeService(
            context.database, self._registry_ports(), self._tenant, models=self.judge_models()
        )
        return RecipeService(own)
