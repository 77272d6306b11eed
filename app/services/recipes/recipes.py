"""The recipes of a project: those that ship with the service, and its own.

Promises that the id of a shipped recipe is no name of a project's own, so that a name means one
recipe.
"""

from typing import Any

from pydantic import ValidationError

from app.domain.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.domain.plans.recipes import PlanRecipe, RecipeDefinition
from app.domain.registry.registered_objects import (
    ID_PREFIXES,
    LabelChanges,
    Noun,
    RegisteredVersion,
)
from app.services.recipes.shipped_recipes import shipped_ids, shipped_recipe
from app.services.registry.recipes import OwnRecipeService


class RecipeService:
    def __init__(self, own: OwnRecipeService) -> None:
        self._own = own

    async def page(self, *, after: str | None, limit: int) -> tuple[list[PlanRecipe], bool]:
        """Returns shipped recipes in the order of their ids, then a project's own, newest first,
        and whether more follow. Raises `InvalidRequest` for an `after` that is no recipe.
        """
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
        """Returns the shipped recipe with this id, or the project's with this id or name. Raises
        `NotFound`, with the shipped recipes.
        """
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
        """Returns the same as `get`, for a plan. Raises `WrongState` also for a recipe that was
        registered under earlier rules and that this version refuses.
        """
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
        """Returns versions, newest first, and whether more follow; a shipped recipe has one."""
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
        """Raises `InvalidRequest` for a shipped recipe."""
        own_id = await self._own_id(recipe_id)
        if labels.name is not None:
            _check_name(labels.name)
        return own_recipe(await self._own.update(own_id, changes, labels))

    async def delete(self, recipe_id: str) -> None:
        """Raises `InvalidRequest` for a shipped recipe."""
        await self._own.delete(await self._own_id(recipe_id))

    async def _own_id(self, recipe_id: str) -> str:
        """Returns the id of the project's recipe with this id or name. Raises `WrongState` for a
        shipped one.
        """
        _check_own(recipe_id)
        return (await self.get(recipe_id)).id


def own_recipe(registered: RegisteredVersion) -> PlanRecipe:
    """Returns a stored recipe; one that was registered under earlier rules as it is, to be read and
    not to be used.
    """
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
