"""Routes of recipes, the starting points of improvement plans."""

from fastapi import APIRouter

from app.api.schemas.common import Page, object_page
from app.api.schemas.recipes import Recipe, RecipeDetails
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/recipes", tags=["Recipes"])


@router.get("", operation_id="listRecipes", responses=responses())
async def list_recipes(services: Services, after: After = None, limit: Limit = 20) -> Page[Recipe]:
    """Lists recipes by id, without their rows."""
    found, more = services.recipes().page(after=after, limit=limit)
    return object_page([Recipe.of(recipe) for recipe in found], has_more=more)


@router.get("/{recipe_id}", operation_id="retrieveRecipe", responses=responses(404))
async def get_recipe(recipe_id: str, services: Services) -> RecipeDetails:
    """Returns a recipe with its sample curriculum."""
    return RecipeDetails.of(services.recipes().get(recipe_id))
