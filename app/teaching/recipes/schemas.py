"""Recipes on the wire (an extension)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.jobs.supervised import MethodType
from app.kit.fields import Json
from app.kit.schemas import ClosedBody, Metadata
from app.teaching.plans.knobs import Knobs
from app.teaching.recipes.recipes import (
    MAX_RECIPE_NAME,
    MAX_SENTENCES,
    PlanRecipe,
    RecipeDefinition,
    RecipeRows,
    RecipeSource,
    StoredRecipe,
)
from app.tools.registry import LabelChanges

_Sentences = Annotated[list[str], Field(max_length=MAX_SENTENCES)]


class CreateRecipe(RecipeDefinition):
    """A recipe of the project's own: a starting point of plans for one kind of task."""

    metadata: Metadata | None = None

    def definition(self) -> RecipeDefinition:
        return RecipeDefinition.model_construct(
            self.model_fields_set, **{name: getattr(self, name) for name in _DEFINED}
        )


class UpdateRecipe(ClosedBody):
    """Changes that make a new version of a recipe; absent fields do not change;
    `null` removes an optional one and keeps a required one.
    """

    name: Annotated[str, Field(min_length=1, max_length=MAX_RECIPE_NAME)] | None = None
    """Name that no other recipe of the project has, and none that ships."""
    purpose: str | None = None
    """The task that the recipe is for, in a sentence or two."""
    base_model_advice: str | None = None
    """Base models that it suits."""
    method: MethodType | None = None
    """The training method."""
    options: Json | None = None
    """Options of the method that no knob sets, all of them."""
    knobs: Knobs | None = None
    """The positions from which a plan starts, all of them."""
    rubric: _Sentences | None = None
    """Marks of a good answer."""
    stop_rules: _Sentences | None = None
    """When the job stops, in sentences."""
    risks: _Sentences | None = None
    """Faults that occur with it, and where they show."""
    sources: Annotated[list[RecipeSource], Field(max_length=MAX_SENTENCES)] | None = None
    """The evidence behind the defaults."""
    sample_curriculum: RecipeRows | None = None
    """Rows to try the recipe with."""
    metadata: Metadata | None = None

    def changes(self) -> dict[str, Any]:
        """Returns the parts of the definition that were sent. A part that every recipe has is not
        removed by `null`.
        """
        sent = self.model_dump(mode="json", exclude_unset=True, exclude={"metadata"})
        return {
            key: value for key, value in sent.items() if value is not None or key not in _NEEDED
        }

    def labels(self) -> LabelChanges:
        return LabelChanges(self.name, self.metadata, "metadata" in self.model_fields_set)


class Recipe(StoredRecipe):
    """A starting point of plans for one kind of task."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: PlanRecipe) -> "Recipe":
        return cls.model_construct(**{name: getattr(recipe, name) for name in _SHOWN})


class RecipeDetails(PlanRecipe):
    """A recipe with its rows."""

    object: Literal["recipe"] = "recipe"

    @classmethod
    def of(cls, recipe: PlanRecipe) -> "RecipeDetails":
        shown = (*_SHOWN, "sample_curriculum")
        return cls.model_construct(**{name: getattr(recipe, name) for name in shown})


_SHOWN = tuple(StoredRecipe.model_fields)
_DEFINED = tuple(RecipeDefinition.model_fields)
_NEEDED = frozenset({"name", "purpose", "method", "options"})
