"""Recipes of a project: definitions of the shipped schema, kept as registered objects."""

import asyncio
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter
from typing_extensions import override

from app.domain.plans.recipes import RecipeDefinition
from app.domain.registry.registered_objects import LabelChanges, Noun, RegisteredVersion
from app.services.registry.definition_check import read_definition
from app.services.registry.registered_objects import RegistryService

_ADAPTER: Final = TypeAdapter(RecipeDefinition)


class OwnRecipeService(RegistryService):
    noun: ClassVar[Noun] = Noun.RECIPE

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
        def checked() -> dict[str, Any]:
            recipe.check_options()
            definition = recipe.model_dump(mode="json", exclude_none=True)
            self._check_size(definition)
            return definition

        return await asyncio.to_thread(checked)

    @override
    def _validate(self, definition: dict[str, Any]) -> None:
        read_definition(_ADAPTER, definition, self.root).check_options()
