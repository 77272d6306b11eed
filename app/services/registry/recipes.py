"""Recipes of a project: definitions of the shipped schema, kept as registered objects."""

import asyncio
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter
from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.jobs.creation.requests import RequestedMethod
from app.domain.plans.recipe_options import OPTIONS, checked_options, uncalled_options
from app.domain.plans.recipes import RecipeDefinition
from app.domain.registry.registered_objects import LabelChanges, Noun, RegisteredVersion
from app.services.models.judge_models import JudgeModels
from app.services.registry.definition_check import check_definition, read_definition
from app.services.registry.registered_objects import RegistryPorts, RegistryService
from app.store.database import Database

_ADAPTER: Final = TypeAdapter(RecipeDefinition)


class OwnRecipeService(RegistryService):
    noun: ClassVar[Noun] = Noun.RECIPE

    @override
    def __init__(
        self, database: Database, ports: RegistryPorts, tenant: Tenant, *, models: JudgeModels
    ) -> None:
        super().__init__(database, ports, tenant)
        self._models = models

    async def create(
        self, recipe: RecipeDefinition, *, metadata: dict[str, str] | None
    ) -> RegisteredVersion:
        """Creates a recipe. Raises `InvalidRequest` for a name that is taken, or for options that
        make no job.
        """
        definition = await self._checked(recipe)
        return await self._insert(recipe.name, definition, metadata=metadata)

    async def update(
        self, recipe_id: str, changes: dict[str, Any], labels: LabelChanges
    ) -> RegisteredVersion:
        """Inserts a new version: keys that are not sent stay; a null removes an optional one."""
        before = await self.get(recipe_id)
        merged = {**before.definition, **changes}
        known = {name: value for name, value in merged.items() if value is not None}
        recipe = await asyncio.to_thread(read_definition, _ADAPTER, known, self.root)
        return await self._append(before, await self._checked(recipe), labels)

    async def _checked(self, recipe: RecipeDefinition) -> dict[str, Any]:
        """Returns the definition. Raises `InvalidRequest` also for an address or a judge that a job
        of this installation may not call.
        """

        def checked() -> tuple[dict[str, Any], RequestedMethod]:
            definition = recipe.model_dump(mode="json", exclude_none=True)
            self._check_size(definition)
            return definition, checked_options(recipe)

        definition, options = await asyncio.to_thread(checked)
        await check_definition(
            options,
            OPTIONS,
            egress=self._ports.egress,
            models=self._models,
            uncalled=uncalled_options(options),
        )
        return definition

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        checked_options(read_definition(_ADAPTER, definition, self.root))
