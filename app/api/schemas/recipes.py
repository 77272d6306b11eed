"""Recipes on the wire (an extension)."""

from typing import Literal

from app.domain.plans import recipes
from app.domain.plans.recipes import RecipeText


class Recipe(RecipeText):
    """A starting point of plans for one kind of task."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: recipes.Recipe) -> "Recipe":
        return cls.model_construct(**{name: getattr(recipe, name) for name in _SHOWN})


class RecipeDetails(recipes.Recipe):
    """A recipe with the rows that ship with it."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: recipes.Recipe) -> "RecipeDetails":
        shown = (*_SHOWN, "sample_curriculum")
        return cls.model_construct(**{name: getattr(recipe, name) for name in shown})


_SHOWN = tuple(RecipeText.model_fields)
