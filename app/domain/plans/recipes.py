"""The schema of a recipe: a tried starting point of a plan for one kind of task. Pure.

Must not know where recipes are stored.
"""

from typing import Any

from pydantic import ConfigDict, Field, model_validator

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.method_models import METHOD_MODELS
from app.domain.methods.supervised import MethodType
from app.domain.plans.knobs import Knobs, checked_knobs
from app.domain.plans.plan import PlanRequest, compile_plan

_LEAST_ROWS = 10


class _RecipePart(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RecipeSource(_RecipePart):
    """The evidence behind one setting of a recipe."""

    setting: str = Field(min_length=1)
    """A knob, or the path of an option in the method."""
    reason: str = Field(min_length=1)
    """Reason for the recipe's value."""
    source: str = Field(min_length=1)
    """The publication, or the page of this project, that the value comes from."""


class RecipeRows(_RecipePart):
    """A small curriculum to try a recipe with; a real job has rows of its own."""

    training: tuple[dict[str, Any], ...] = Field(min_length=_LEAST_ROWS)
    """Rows for training."""
    validation: tuple[dict[str, Any], ...] = Field(min_length=_LEAST_ROWS)
    """Held-out rows."""


class RecipeText(_RecipePart):
    """The file of a recipe; its rows are files of their own."""

    id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    purpose: str = Field(min_length=1)
    """The task that the recipe is for, in a sentence or two."""
    base_model_advice: str = Field(min_length=1)
    """Base models that it suits."""
    method: MethodType
    """The training method."""
    options: dict[str, Any]
    """Options of the method that no knob sets: grader, mode, loss, advantage."""
    knobs: Knobs
    """The positions from which a plan starts."""
    rubric: tuple[str, ...] = Field(min_length=1)
    """Marks of a good answer, for the writer of a grader or of pairs."""
    stop_rules: tuple[str, ...] = Field(min_length=1)
    """When the job stops, in sentences."""
    risks: tuple[str, ...] = Field(min_length=1)
    """Faults that occur with it, and where they show."""
    sources: tuple[RecipeSource, ...] = Field(min_length=1)
    """The evidence behind the defaults."""

    @model_validator(mode="after")
    def _compiles(self) -> "RecipeText":
        request = PlanRequest(kind=self.method, knobs=self.knobs, call={}, options=self.options)
        checked_knobs(self.knobs, self.method)
        METHOD_MODELS[self.method].model_validate(compile_plan(request).job["method"][self.method])
        return self


class PlanRecipe(RecipeText):
    """A recipe with its sample curriculum."""

    sample_curriculum: RecipeRows
    """Rows that ship with the recipe."""
