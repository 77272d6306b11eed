"""The schema of a recipe: a tried starting point of a plan for one kind of task. Pure.

Must not know where recipes are stored.
"""

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.supervised import MethodType
from app.domain.plans.knobs import Knobs

LEAST_ROWS: Final = 10
"""Smallest number of rows in a part of a sample curriculum, as of a job's file."""
MAX_ROWS: Final = 200
"""Largest number of rows in a part of a sample curriculum."""
MAX_SENTENCES: Final = 50
"""Largest number of sentences in a part of a recipe, and of its sources."""
MAX_RECIPE_NAME: Final = 256
"""Largest number of characters of a name."""


class _RecipePart(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RecipeSource(_RecipePart):
    """The evidence behind one setting of a recipe."""

    setting: str = Field(min_length=1)
    """A knob, or the path of an option in the method."""
    reason: str = Field(min_length=1)
    """Reason for the recipe's value."""
    source: str = Field(min_length=1)
    """The publication, the page of this project, or the measurement that the value comes from."""


class RecipeRows(_RecipePart):
    """A small curriculum to try a recipe with; a real job has rows of its own."""

    training: tuple[dict[str, Any], ...] = Field(min_length=LEAST_ROWS, max_length=MAX_ROWS)
    """Rows for training."""
    validation: tuple[dict[str, Any], ...] = Field(min_length=LEAST_ROWS, max_length=MAX_ROWS)
    """Held-out rows."""


class RecipeText(_RecipePart):
    """The parts of a recipe that are written, without its rows."""

    name: str = Field(min_length=1, max_length=MAX_RECIPE_NAME)
    purpose: str = Field(min_length=1)
    """The task that the recipe is for, in a sentence or two."""
    base_model_advice: str = ""
    """Base models that it suits."""
    method: MethodType
    """The training method."""
    options: dict[str, Any]
    """Options of the method that no knob sets: grader, mode, loss, advantage."""
    knobs: Knobs = Knobs()
    """The positions from which a plan starts."""
    rubric: tuple[str, ...] = Field(default=(), max_length=MAX_SENTENCES)
    """Marks of a good answer, for the writer of a grader or of pairs."""
    stop_rules: tuple[str, ...] = Field(default=(), max_length=MAX_SENTENCES)
    """When the job stops, in sentences."""
    risks: tuple[str, ...] = Field(default=(), max_length=MAX_SENTENCES)
    """Faults that occur with it, and where they show."""
    sources: tuple[RecipeSource, ...] = Field(default=(), max_length=MAX_SENTENCES)
    """The evidence behind the defaults."""


class RecipeDefinition(RecipeText):
    """A recipe as it is written, with its rows."""

    sample_curriculum: RecipeRows | None = None
    """Rows to try the recipe with; absent: a plan needs data of its own."""


class StoredRecipe(RecipeText):
    """A recipe of the service or of a project."""

    id: str
    owner: Literal["service", "project"] = "service"
    """`service`: it ships with the service, the same for every project."""
    version: int = 1
    """Number of the version, from 1."""
    created_at: int | None = None
    """Creation time, unix seconds; `null` for one that ships."""
    metadata: dict[str, str] | None = None


class PlanRecipe(StoredRecipe):
    """A recipe with its sample curriculum."""

    sample_curriculum: RecipeRows | None = None
    """Rows to try the recipe with; `null`: a plan needs data of its own."""


class ShippedRecipe(PlanRecipe):
    """A recipe of the service: it gives advice and evidence, and has rows."""

    base_model_advice: str = Field(min_length=1)
    rubric: tuple[str, ...] = Field(min_length=1)
    stop_rules: tuple[str, ...] = Field(min_length=1)
    risks: tuple[str, ...] = Field(min_length=1)
    sources: tuple[RecipeSource, ...] = Field(min_length=1)
    sample_curriculum: RecipeRows
