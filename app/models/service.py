"""The models that a tenant may call, its judges, and permissions of other projects."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.database import Database, UnitOfWork
from app.graders.judge_calls import EngineModel
from app.kit.callers import Principal, Tenant
from app.kit.errors import InvalidRequest, NotFound, PermissionDenied, RequestError
from app.kit.ids import ProjectId
from app.models.engine import Inference, unload_unused
from app.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    CheckpointPermission,
    StudentVersion,
    TunedModel,
    find_base_model,
    not_offered,
    student_named,
    unknown_student,
)
from app.settings import EmbeddingSettings, JudgeSettings


class PermissionService:
    def __init__(self, database: Database, principal: Principal) -> None:
        self._database = database
        self._principal = principal

    async def grant(
        self, model_name: str, project_ids: Sequence[str]
    ) -> list[CheckpointPermission]:
        """Shares a model with all projects or none. Raises `NotFound` and `InvalidRequest`."""
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            return await unit.permissions.grant(
                model_name, project_ids, organization_id=owner.organization_id
            )

    async def page(
        self,
        model_name: str,
        *,
        project_id: str | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[CheckpointPermission], bool]:
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            return await unit.permissions.page(
                model_name, project_id=project_id, after=after, limit=limit, descending=descending
            )

    async def revoke(self, model_name: str, permission_id: str) -> None:
        owner = await self._owner(model_name)
        async with self._database.tenant(owner) as unit:
            await _check_owned(unit, model_name, owner)
            await unit.permissions.revoke(model_name, permission_id)

    async def _owner(self, model_name: str) -> Tenant:
        """Returns the project for which the caller acts: its own, or the model's owner."""
        principal = self._principal
        if isinstance(principal, Tenant):
            return principal
        async with self._database.organization(principal.organization_id) as unit:
            project_id = await unit.models.owner_in(principal.organization_id, model_name)
        if project_id is None:
            raise _no_model(model_name)
        return Tenant(
            organization_id=principal.organization_id,
            project_id=ProjectId(project_id),
            organization_slug="",
            key_id=principal.key_id,
        )


async def _check_owned(unit: UnitOfWork, model_name: str, owner: Tenant) -> None:
    model = await unit.models.get(model_name)
    if model is None or model.project_id != owner.project_id:
        raise _no_model(model_name)


def _no_model(name: str) -> NotFound:
    return NotFound(
        f"The model '{name}' does not exist",
        param="fine_tuned_model_checkpoint",
        code="model_not_found",
    )


_ENGINE_PATIENCE_S: Final = 5.0
"""Time in which the engine says what it can do: a create call waits for it."""
_STARTED_AT: Final = int(time.time())
"""Creation time of base models whose names have no date: the start of this process."""


@dataclass(frozen=True, slots=True)
class CallableModel:
    name: str
    created_at: int
    owned_by: str
    engine_name: str
    tuned: TunedModel | None
    reasoning_effort: str | None
    base: BaseModelSpec | None
    version: StudentVersion | None = None
    """Of the student by whose name the model was called."""

    @property
    def context_length(self) -> int | None:
        """Tokens of prompt and answer; `None` if the base model is no longer offered."""
        return None if self.base is None else self.base.context_length

    @property
    def object_key(self) -> str | None:
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
        """Raises the same `NotFound` (`model_not_found`) for unknown and foreign models."""
        base = find_base_model(self._base_models, name)
        if base is not None:
            return _base(base)
        student = student_named(name)
        async with self._database.tenant(self._tenant) as unit:
            tuned = await unit.models.get(name)
            exists = student is not None and await unit.students.answering(student)
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
        """Returns the model that answers now: for `student:NAME` its current skill's."""
        student, version = student_named(name), None
        if student is not None:
            async with self._database.tenant(self._tenant) as unit:
                version = await unit.students.answering(student)
        model = await self.get(name if version is None else version.model)
        if model.base is None and model.tuned is not None:
            raise InvalidRequest(
                f"The model '{name}' cannot answer. {not_offered(model.tuned.base_model)}",
                param="model",
                code=MODEL_NOT_AVAILABLE,
            )
        return replace(model, version=version)

    async def response_formats(self, model: CallableModel) -> tuple[str, ...] | None:
        """Returns the formats a model can be held to; `None` if its engine does not say."""
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
        try:
            model = await self._models.get(name)
        except NotFound:
            return None
        return EngineModel(name, model.engine_name, model.object_key, model.reasoning_effort)
