"""The recipes of a project: those that ship with the service, and its own.

Promises that the id of a shipped recipe is no name of a project's own, so that a name means one
recipe.
"""

from typing import Any

from app.domain.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.domain.plans.recipes import PlanRecipe, RecipeDefinition
from app.domain.registry.registered_objects import (
    ID_PREFIXES,
    LabelChanges,
    Noun,
    RegisteredVersion,
)
from app.services.recipes.shipped_recipes import shipped_names, shipped_recipe
from app.services.registry.recipes import OwnRecipeService


class RecipeService:
    def __init__(self, own: OwnRecipeService) -> None:
        self._own = own

    async def page(self, *, after: str | None, limit: int) -> tuple[list[PlanRecipe], bool]:
        """Returns shipped recipes in the order of their ids, then a project's own, newest first,
        and whether more follow. Raises `InvalidRequest` for an `after` that is no recipe.
        """
        if after is not None and after not in shipped_names():
            rows, more = await self._own.page(after=after, limit=limit)
            return list(map(own_recipe, rows)), more
        names = [name for name in shipped_names() if after is None or name > after]
        if len(names) > limit:
            return list(map(shipped_recipe, names[:limit])), True
        left = limit - len(names)
        rows, more = await self._own.page(after=None, limit=max(left, 1))
        found = [*map(shipped_recipe, names), *map(own_recipe, rows[:left])]
        return found, more or len(rows) > left

    async def get(self, recipe_id: str, *, version: int | None = None) -> PlanRecipe:
        """Returns the shipped recipe with this id, or the project's with this id or name. Raises
        `NotFound`, with the shipped recipes.
        """
        if recipe_id in shipped_names() and version in {None, 1}:
            return shipped_recipe(recipe_id)
        try:
            return own_recipe(await self._own.get_named(recipe_id, version=version))
        except NotFound as error:
            known = ", ".join(shipped_names())
            message = (
                f"There is no recipe '{recipe_id:.80}' in this project; with the service there are "
                f"{known}."
            )
            raise NotFound(message, param="recipe", code="recipe_not_found") from error

    async def usable(self, recipe_id: str) -> PlanRecipe:
        """Returns the same as `get`, for a plan. Raises `WrongState` also for a recipe that was
        registered under earlier rules and that this version refuses.
        """
        recipe = await self.get(recipe_id)
        if recipe.owner == "project":
            await self._own.usable(await self._own.get(recipe.id))
        return recipe

    async def versions(
        self, recipe_id: str, *, before: int | None, limit: int
    ) -> tuple[list[PlanRecipe], bool]:
        """Returns versions, newest first, and whether more follow; a shipped recipe has one."""
        if recipe_id in shipped_names():
            return ([shipped_recipe(recipe_id)] if before is None else []), False
        rows, more = await self._own.versions(recipe_id, before=before, limit=limit)
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
        if labels.name is not None:
            _check_name(labels.name)
        _check_own(recipe_id)
        return own_recipe(await self._own.update(recipe_id, changes, labels))

    async def delete(self, recipe_id: str) -> None:
        """Raises `InvalidRequest` for a shipped recipe."""
        _check_own(recipe_id)
        await self._own.delete(recipe_id)


def own_recipe(registered: RegisteredVersion) -> PlanRecipe:
    return PlanRecipe.model_validate(
        {
            **registered.definition,
            "id": registered.id,
            "name": registered.name,
            "owner": "project",
            "version": registered.version,
            "created_at": registered.created_at,
            "metadata": registered.metadata,
        }
    )


def _check_name(name: str) -> None:
    """Raises `InvalidRequest` for a name that is read as another recipe, or that no path holds."""
    shipped = {*shipped_names(), *(shipped_recipe(one).name for one in shipped_names())}
    if name.casefold() in {one.casefold() for one in shipped}:
        message = f"'{name}' is a recipe that ships with the service; send another name."
        raise InvalidRequest(message, param="name", code="name_taken")
    if "/" in name or name.startswith(ID_PREFIXES[Noun.RECIPE]):
        reason = f"a name has no '/', and does not begin with '{ID_PREFIXES[Noun.RECIPE]}'"
        raise refused_value("name", reason)


def _check_own(recipe_id: str) -> None:
    if recipe_id in shipped_names():
        raise WrongState(
            f"The recipe '{recipe_id}' ships with the service and does not change. POST "
            "/v1/recipes with another name makes one of your own.",
            param="recipe",
        )
