"""Registered graders: configurations that jobs refer to by id."""

import asyncio
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from typing_extensions import override

from app.database import Database
from app.graders.definitions import GRADER_MODELS, AnyGrader, Grader
from app.graders.template_faults import REWARDS_ALIKE, constant_scores, unplayable_path
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest
from app.kit.faults import UnreadKey
from app.models.service import JudgeModels
from app.tools.definition_check import check_definition, read_definition
from app.tools.registry import LabelChanges, Noun, RegisteredVersion
from app.tools.registry_service import RegistryPorts, RegistryService

GraderConfig = AnyGrader
_ADAPTER: Final[TypeAdapter[Any]] = TypeAdapter(Grader)


class RegisteredGraderService(RegistryService):
    noun: ClassVar[Noun] = Noun.GRADER
    models: ClassVar[tuple[type[BaseModel], ...]] = GRADER_MODELS
    root: ClassVar[str] = "grader"

    @override
    def __init__(
        self, database: Database, ports: RegistryPorts, tenant: Tenant, *, models: JudgeModels
    ) -> None:
        super().__init__(database, ports, tenant)
        self._models = models

    async def create(
        self, name: str, grader: GraderConfig, *, metadata: dict[str, str] | None
    ) -> RegisteredVersion:
        made = await self._insert(name, _definition(grader), metadata=metadata)
        return await self._warned(made, grader)

    async def update(
        self, grader_id: str, grader: GraderConfig | None, labels: LabelChanges
    ) -> RegisteredVersion:
        """Inserts a new version; `None` keeps the configuration, which may be refused today."""
        before = await self.get(grader_id)
        if grader is not None:
            return await self._warned(
                await self._append(before, _definition(grader), labels), grader
            )
        try:
            return await self._append(before, await self.reveal(before), labels)
        except InvalidRequest as error:
            if not (error.param or "").startswith(self.root):
                raise
            raise InvalidRequest(
                f"The grader {before.id}, version {before.version}, was registered under earlier "
                f"rules and is refused today. {error.message} Send a 'grader' that is accepted "
                "with the update.",
                param=self.root,
                code=error.code,
            ) from error

    async def config(self, grader_id: str) -> GraderConfig:
        definition = await self.usable(await self.get(grader_id))
        return await asyncio.to_thread(self._read, definition)

    async def _warned(self, made: RegisteredVersion, grader: GraderConfig) -> RegisteredVersion:
        found = await asyncio.to_thread(
            lambda: tuple(constant_scores(grader, self.root, REWARDS_ALIKE))
        )
        return replace(made, unused=found)

    @override
    async def _check(self, definition: dict[str, Any]) -> tuple[UnreadKey, ...]:
        grader = await asyncio.to_thread(self._read, definition)
        fault = await asyncio.to_thread(unplayable_path, grader, self.root)
        if fault is not None:
            raise fault
        return await check_definition(
            grader, self.root, egress=self._ports.egress, models=self._models
        )

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        self._read(definition)

    def _read(self, definition: dict[str, Any]) -> GraderConfig:
        grader: GraderConfig = read_definition(_ADAPTER, definition, self.root)
        return grader


def _definition(grader: GraderConfig) -> dict[str, Any]:
    return grader.model_dump(mode="json")
