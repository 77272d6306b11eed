"""Recipes on the wire (an extension)."""

from typing import Literal

from app.domain.plans.recipes import PlanRecipe, RecipeText


class Recipe(RecipeText):
    """A starting point of plans for one kind of task."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: PlanRecipe) -> "Recipe":
        return cls.model_construct(**{name: getattr(recipe, name) for name in _SHOWN})


class RecipeDetails(PlanRecipe):
    """A recipe with the rows that ship with it."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: PlanRecipe) -> "RecipeDetails":
        shown = (*_SHOWN, "sample_curriculum")
        return cls.model_construct(**{name: getattr(recipe, name) for name in shown})


_SHOWN = tuple(RecipeText.model_fields)
