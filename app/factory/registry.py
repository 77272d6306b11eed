"""Builds the services of registered objects, and of the trials before one is used."""

from typing import TypeVar

from app.factory.files import FileServices
from app.factory.models import ModelServices
from app.gateways.egress.guard import EgressPolicy
from app.gateways.hub.data_sets import HubLocation
from app.gateways.inference.judges import EngineModels
from app.services.curriculum_sources.curriculum_maker import CurriculumMaker, CurriculumMakerPorts
from app.services.registry.calibrations.baseline_samples import BaselineSamples
from app.services.registry.calibrations.calibrations import CalibrationService
from app.services.registry.contracts.mcp_contract import McpContractService
from app.services.registry.curricula import CurriculumService, DataPorts
from app.services.registry.environments import EnvironmentService
from app.services.registry.graders import RegisteredGraderService
from app.services.registry.mcp_import import McpImportService
from app.services.registry.registered_endpoints import RegisteredEndpointService
from app.services.registry.tools import ToolService
from app.services.registry.trials import TrialPorts, TrialService
from app.slots.project_slots import ProjectSlots

_EndpointService = TypeVar("_EndpointService", bound=RegisteredEndpointService)


class RegistryServices(FileServices, ModelServices):
    def tools(self) -> ToolService:
        return self._endpoints(ToolService, slots=self._context.tool_tests)

    def environments(self) -> EnvironmentService:
        return self._endpoints(EnvironmentService, slots=self._context.environment_tests)

    def _endpoints(
        self, service: type[_EndpointService], *, slots: ProjectSlots
    ) -> _EndpointService:
        context = self._context
        return service(
            context.database,
            self._registry_ports(),
            self._tenant,
            secret_keys=context.settings.secret_keys,
            call_timeout_s=context.settings.egress.call_timeout_s,
            slots=slots,
            models=self.judge_models(),
        )

    def graders(self) -> RegisteredGraderService:
        ports = self._registry_ports()
        return RegisteredGraderService(
            self._context.database, ports, self._tenant, models=self.judge_models()
        )

    def curricula(self) -> CurriculumService:
        context = self._context
        return CurriculumService(
            context.database,
            self._registry_ports(),
            self._tenant,
            data=DataPorts(self.files(), self.row_files(), context.objects, context.inspections),
        )

    def curriculum_maker(self) -> CurriculumMaker:
        context = self._context
        egress, hub = context.settings.egress, context.settings.hub
        location = HubLocation(
            hub.endpoint,
            EgressPolicy(frozenset(egress.allow_endpoints), egress.allow_plain_http),
            hub.data_sets_dir,
        )
        ports = CurriculumMakerPorts(
            self.row_files(), context.inspections, self.curricula(), location
        )
        return CurriculumMaker(context.database, ports, self._tenant)

    def trials(self) -> TrialService:
        context, models, settings = self._context, self.judge_models(), self._context.settings
        ports = TrialPorts(
            egress=self._egress(),
            judge_egress=context.judge_egress,
            engine=EngineModels(self._engine(), context.adapters, models.find),
            signer=self._signer(),
            sandbox=self._sandbox(),
            computing=lambda: context.computing.of(
                self._tenant.organization_id, self._tenant.project_id
            ),
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
            BaselineSamples(self._context.database, self._tenant, files),
            slot=lambda: self._context.calibrations.taken(self._tenant.organization_id),
        )

    def mcp_tests(self) -> McpContractService:
        context = self._context
        return McpContractService(
            self._egress(),
            self.judge_models(),
            self._signer(),
            limits=context.settings.egress,
            slots=context.tool_tests,
            project_id=self._tenant.project_id,
        )

    def mcp_import(self) -> McpImportService:
        return McpImportService(self.mcp_tests(), self.tools())
