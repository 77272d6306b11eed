"""Reads the recipes that ship with the service.

Each file is checked by the schema when it is first read.
"""

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter, ValidationError
from typing_extensions import override

from app.database import Database
from app.jobs.jobs import RequestedMethod
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.models.service import JudgeModels
from app.teaching.recipes.recipes import (
    OPTIONS,
    PlanRecipe,
    RecipeDefinition,
    ShippedRecipe,
    checked_options,
    uncalled_options,
)
from app.tools.definition_check import check_definition, read_definition
from app.tools.registry import ID_PREFIXES, LabelChanges, Noun, RegisteredVersion
from app.tools.registry_service import RegistryPorts, RegistryService

_DATA: Final = Path(__file__).with_name("data")


@cache
def shipped_ids() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _DATA.glob("*.json")))


@cache
def shipped_recipe(recipe_id: str) -> ShippedRecipe:
    rows = {split: _rows(recipe_id, split) for split in ("training", "validation")}
    text = json.loads((_DATA / f"{recipe_id}.json").read_text(encoding="utf-8"))
    recipe = ShippedRecipe.model_validate({**text, "id": recipe_id, "sample_curriculum": rows})
    checked_options(recipe)
    return recipe


def _rows(name: str, split: str) -> list[dict[str, Any]]:
    lines = (_DATA / f"{name}.{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


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


class RecipeService:
    def __init__(self, own: OwnRecipeService) -> None:
        self._own = own

    async def page(self, *, after: str | None, limit: int) -> tuple[list[PlanRecipe], bool]:
        """Lists shipped recipes first. Raises `InvalidRequest` for an `after` that is no recipe."""
        if after is not None and after not in shipped_ids():
            rows, more = await self._own.page(after=after, limit=limit)
            return list(map(own_recipe, rows)), more
        ids = [shipped for shipped in shipped_ids() if after is None or shipped > after]
        if len(ids) > limit:
            return list(map(shipped_recipe, ids[:limit])), True
        left = limit - len(ids)
        rows, more = await self._own.page(after=None, limit=max(left, 1))
        found = [*map(shipped_recipe, ids), *map(own_recipe, rows[:left])]
        return found, more or len(rows) > left

    async def get(self, recipe_id: str, *, version: int | None = None) -> PlanRecipe:
        if recipe_id in shipped_ids() and version in {None, 1}:
            return shipped_recipe(recipe_id)
        if recipe_id in shipped_ids():
            raise _no_version(recipe_id, version)
        try:
            newest = await self._own.get_named(recipe_id)
        except NotFound as error:
            known = ", ".join(shipped_ids())
            message = (
                f"There is no recipe '{recipe_id:.80}' in this project; with the service there are "
                f"{known}."
            )
            raise NotFound(message, param="recipe", code="recipe_not_found") from error
        if version in {None, newest.version}:
            return own_recipe(newest)
        try:
            return own_recipe(await self._own.get(newest.id, version=version))
        except NotFound as error:
            raise _no_version(recipe_id, version) from error

    async def usable(self, recipe_id: str) -> PlanRecipe:
        recipe = await self.get(recipe_id)
        if recipe.owner == "project":
            try:
                await self._own.usable(await self._own.get(recipe.id))
            except WrongState as error:
                raise WrongState(error.message, param="recipe", code=error.code) from error
        return recipe

    async def versions(
        self, recipe_id: str, *, before: int | None, limit: int
    ) -> tuple[list[PlanRecipe], bool]:
        if recipe_id in shipped_ids():
            return ([shipped_recipe(recipe_id)] if before is None else []), False
        rows, more = await self._own.versions(
            await self._own_id(recipe_id), before=before, limit=limit
        )
        return list(map(own_recipe, rows)), more

    async def create(
        self, recipe: RecipeDefinition, *, metadata: dict[str, str] | None
    ) -> PlanRecipe:
        _check_name(recipe.name)
        return own_recipe(await self._own.create(recipe, metadata=metadata))

    async def update(
        self, recipe_id: str, changes: dict[str, Any], labels: LabelChanges
    ) -> PlanRecipe:
        own_id = await self._own_id(recipe_id)
        if labels.name is not None:
            _check_name(labels.name)
        return own_recipe(await self._own.update(own_id, changes, labels))

    async def delete(self, recipe_id: str) -> None:
        await self._own.delete(await self._own_id(recipe_id))

    async def _own_id(self, recipe_id: str) -> str:
        _check_own(recipe_id)
        return (await self.get(recipe_id)).id


def own_recipe(registered: RegisteredVersion) -> PlanRecipe:
    """Returns a stored recipe; one that today's rules refuse can be read and not be used."""
    stored = {
        **registered.definition,
        "id": registered.id,
        "name": registered.name,
        "owner": "project",
        "version": registered.version,
        "created_at": registered.created_at,
        "metadata": registered.metadata,
    }
    try:
        return PlanRecipe.model_validate(stored)
    except ValidationError:
        return PlanRecipe.model_construct(**stored)


def _no_version(recipe_id: str, version: int | None) -> NotFound:
    message = f"The recipe '{recipe_id:.80}' has no version {version}."
    return NotFound(message, param="version", code="recipe_not_found")


def _check_name(name: str) -> None:
    """Raises `InvalidRequest` for a name that is read as another recipe, or that no path holds."""
    shipped = {*shipped_ids(), *(shipped_recipe(one).name for one in shipped_ids())}
    if name.casefold() in {one.casefold() for one in shipped}:
        message = f"'{name}' is a recipe that ships with the service; send another name."
        raise InvalidRequest(message, param="name", code="name_taken")
    if "/" in name or name.startswith(ID_PREFIXES[Noun.RECIPE]):
        reason = f"a name has no '/', and does not begin with '{ID_PREFIXES[Noun.RECIPE]}'"
        raise refused_value("name", reason)


def _check_own(recipe_id: str) -> None:
    if recipe_id in shipped_ids():
        raise WrongState(
            f"The recipe '{recipe_id}' ships with the service and does not change. POST "
            "/v1/recipes with another name makes one of your own.",
            param="recipe",
        )
