"""Builds the services of models, their adapters, exports and completions."""

from app.factory.tenant import TenantServices
from app.gateways.free_space import FreeSpace
from app.services.models.adapters import AdapterService
from app.services.models.chat_completions import ChatCompletionService
from app.services.models.exports import ExportPorts, ExportService
from app.services.models.judge_models import JudgeModels
from app.services.models.models import ModelService
from app.services.models.stored_completions import StoredCompletionService


class ModelServices(TenantServices):
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
        ports = ExportPorts(
            models=self.models(),
            objects=context.objects,
            queue=context.queue,
            space=FreeSpace.of(context.settings),
            base_models=context.settings.base_models,
        )
        return ExportService(context.database, ports, self._tenant)

    def judge_models(self) -> JudgeModels:
        settings = self._context.settings
        return JudgeModels(self.models(), settings.judges, embeddings=settings.embeddings)

    def stored_completions(self) -> StoredCompletionService:
        return StoredCompletionService(
            self._context.database, self._tenant, redaction=self._redaction()
        )

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
