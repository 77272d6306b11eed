"""Builds the services of evals and their runs."""

from app.factory.models import ModelServices
from app.services.evals.eval_runs import EvalRunService
from app.services.evals.evals import EvalService
from app.services.evals.validation_runs import ValidationRunService


class EvalServices(ModelServices):
    def evals(self) -> EvalService:
        context = self._context
        ports = self._registry_ports()
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
