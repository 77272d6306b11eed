"""Models a project may call: the operator's base models, its own tuned ones, and those shared
with it.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound, PermissionDenied, RequestError
from app.domain.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    find_base_model,
    not_offered,
)
from app.domain.models.tuned_models import TunedModel
from app.domain.students.students import student_named, unknown_student
from app.gateways.inference.adapters import unload_unused
from app.gateways.inference.inference import Inference
from app.store.database import Database

_ENGINE_PATIENCE_S: Final = 5.0
"""Time in which the engine says what it can do: a create call waits for it."""
_STARTED_AT: Final = int(time.time())
"""Creation time of base models whose names have no date: the start of this process."""


@dataclass(frozen=True, slots=True)
class CallableModel:
    """A model with its name for clients and its name in the engine."""

    name: str
    created_at: int
    owned_by: str
    engine_name: str
    tuned: TunedModel | None
    """The tuned model itself; `None` for a base model."""
    reasoning_effort: str | None
    """The effort that a tuned model was trained with; `None` for the model's own default."""
    base: BaseModelSpec | None
    """The base model; `None` if it is no longer offered."""

    @property
    def context_length(self) -> int | None:
        """Tokens of prompt and answer; `None` if the base model is no longer offered."""
        return None if self.base is None else self.base.context_length

    @property
    def object_key(self) -> str | None:
        """Object key of the adapter; `None` for a base model."""
        return None if self.tuned is None else self.tuned.object_key


class ModelService:
    def __init__(
        self,
        database: Database,
        inference: Inference,
        *,
        base_models: tuple[BaseModelSpec, ...],
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._inference = inference
        self._base_models = base_models
        self._tenant = tenant

    async def all(self) -> list[CallableModel]:
        async with self._database.tenant(self._tenant) as unit:
            tuned = await unit.models.all()
        return [_base(model) for model in self._base_models] + [
            self._tuned(model) for model in tuned
        ]

    async def get(self, name: str) -> CallableModel:
        """Returns a model. Raises the same `NotFound` (`model_not_found`) for unknown and for
        foreign models.
        """
        base = find_base_model(self._base_models, name)
        if base is not None:
            return _base(base)
        student = student_named(name)
        async with self._database.tenant(self._tenant) as unit:
            tuned = await unit.models.get(name)
            exists = student is not None and await unit.students.answering_model(student)
        if tuned is None:
            message = f"The model '{name}' does not exist: "
            if student is None:
                message += "GET /v1/models lists the models that there are"
            elif exists:
                message += f"it names a student, see GET /v1/students/{student}"
            else:
                message = unknown_student(student)
            raise NotFound(message, param="model", code="model_not_found")
        return self._tuned(tuned)

    async def answering(self, name: str) -> CallableModel:
        """Returns the model that answers a call now: for `student:NAME` that of the student's
        current skill, or its base model. Raises `NotFound` as `get` does, and `InvalidRequest` for
        a tuned model whose base model is no longer offered.
        """
        student, answering = student_named(name), name
        if student is not None:
            async with self._database.tenant(self._tenant) as unit:
                answering = await unit.students.answering_model(student) or name
        model = await self.get(answering)
        if model.base is None and model.tuned is not None:
            raise InvalidRequest(
                f"The model '{name}' cannot answer. {not_offered(model.tuned.base_model)}",
                param="model",
                code=MODEL_NOT_AVAILABLE,
            )
        return model

    async def response_formats(self, model: CallableModel) -> tuple[str, ...] | None:
        """Returns the types of `response_format` that a model can be held to; `None` where its
        engine does not say so, or not now.
        """
        if model.base is None:
            return None
        try:
            async with asyncio.timeout(_ENGINE_PATIENCE_S):
                return await self._inference.response_formats(model.base.name)
        except (RequestError, TimeoutError):
            return None

    async def delete(self, name: str) -> None:
        if find_base_model(self._base_models, name) is not None:
            raise InvalidRequest(f"Base model '{name}' cannot be deleted.", param="model")
        model = await self.get(name)
        if model.owned_by != self._tenant.project_id:
            raise PermissionDenied(f"Model '{name}' belongs to the project that shared it.")
        async with self._database.tenant(self._tenant) as unit:
            await unit.models.mark_deleted(name)
        await unload_unused(self._inference, model.engine_name)

    def _tuned(self, model: TunedModel) -> CallableModel:
        base = find_base_model(self._base_models, model.base_model)
        return CallableModel(
            name=model.name,
            created_at=model.created_at,
            owned_by=model.project_id,
            engine_name=model.engine_name,
            tuned=model,
            reasoning_effort=model.reasoning_effort,
            base=base,
        )


def _base(model: BaseModelSpec) -> CallableModel:
    return CallableModel(
        name=model.name,
        created_at=model.dated or _STARTED_AT,
        owned_by="system",
        engine_name=model.name,
        tuned=None,
        reasoning_effort=None,
        base=model,
    )
