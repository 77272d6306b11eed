"""Routes of recipes, the starting points of improvement plans."""

from fastapi import APIRouter

from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.kit.schemas import Deleted, Page, object_page, page_with_cursors
from app.teaching.recipes.recipes import CreateRecipe, Recipe, RecipeDetails, UpdateRecipe
from app.tools.schemas import AfterVersion, Version

router = APIRouter(prefix="/v1/recipes", tags=["Recipes"])


@router.post("", operation_id="createRecipe", responses=responses())
async def create_recipe(body: CreateRecipe, services: Services) -> RecipeDetails:
    """Makes a recipe of the project's own, as version 1. A plan names it by its id or its name."""
    made = await services.recipes().create(body.definition(), metadata=body.metadata)
    return RecipeDetails.of(made)


@router.get("", operation_id="listRecipes", responses=responses())
async def list_recipes(services: Services, after: After = None, limit: Limit = 20) -> Page[Recipe]:
    """Lists recipes without their rows: those that ship by id, then the project's, newest first."""
    found, more = await services.recipes().page(after=after, limit=limit)
    return object_page([Recipe.of(recipe) for recipe in found], has_more=more)


@router.get("/{recipe_id}", operation_id="retrieveRecipe", responses=responses(404))
async def get_recipe(recipe_id: str, services: Services, version: Version = None) -> RecipeDetails:
    """Returns a recipe with its sample curriculum, in its newest version unless `version` is
    sent.
    """
    return RecipeDetails.of(await services.recipes().get(recipe_id, version=version))


@router.get("/{recipe_id}/versions", operation_id="listRecipeVersions", responses=responses(404))
async def list_recipe_versions(
    recipe_id: str, services: Services, after: AfterVersion = None, limit: Limit = 20
) -> Page[Recipe]:
    """Lists versions, newest first."""
    found, more = await services.recipes().versions(recipe_id, before=after, limit=limit)
    numbers = [str(recipe.version) for recipe in found]
    return page_with_cursors([Recipe.of(recipe) for recipe in found], numbers, has_more=more)


@router.post("/{recipe_id}", operation_id="updateRecipe", responses=responses(404))
async def update_recipe(recipe_id: str, body: UpdateRecipe, services: Services) -> RecipeDetails:
    """Makes a new version of a recipe of the project's own; jobs do not change."""
    changed = await services.recipes().update(recipe_id, body.changes(), body.labels())
    return RecipeDetails.of(changed)


@router.delete("/{recipe_id}", operation_id="deleteRecipe", responses=responses(404))
async def delete_recipe(recipe_id: str, services: Services) -> Deleted:
    """Deletes a recipe of the project's own with all its versions. Jobs and Coach sessions keep
    what they were made with.
    """
    await services.recipes().delete(recipe_id)
    return Deleted(id=recipe_id, object="recipe", deleted=True)
