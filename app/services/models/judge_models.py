"""Judge models of a tenant: the models that it may call, and the operator's judges."""

from app.domain.errors import NotFound
from app.gateways.inference.judges import EngineModel
from app.services.models.models import ModelService
from app.settings.graders import EmbeddingSettings, JudgeSettings


class JudgeModels:
    def __init__(
        self,
        models: ModelService,
        configured: tuple[JudgeSettings, ...],
        *,
        embeddings: EmbeddingSettings | None = None,
    ) -> None:
        self._models = models
        self.has_embeddings = embeddings is not None
        """True if the operator configured an embedding endpoint."""
        self._configured = frozenset(name for judge in configured for name in judge.models)

    async def knows(self, name: str) -> bool:
        return name in self._configured or await self.find(name) is not None

    async def find(self, name: str) -> EngineModel | None:
        """Returns a model of the engine."""
        try:
            model = await self._models.get(name)
        except NotFound:
            return None
        return EngineModel(name, model.engine_name, model.object_key, model.reasoning_effort)
