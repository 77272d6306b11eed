"""Recipes: starting points of plans, whose options make the method of a job. Pure."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationError

from app.jobs.jobs import RequestedMethod
from app.jobs.method_faults import reinforcement_faults
from app.jobs.methods import parameters_of
from app.jobs.supervised import MethodType
from app.kit.errors import InvalidRequest, refused_value
from app.kit.faults import UNKNOWN_PARAMETER, refusal, unknown_key_error, unread
from app.kit.fields import DescribedModel, Json, WalkedField, parameter, walk_fields
from app.kit.redaction import split
from app.kit.schemas import ClosedBody, Metadata
from app.teaching.plans.plans import (
    BODIES,
    CompiledPlan,
    Knobs,
    PlanRequest,
    checked_knobs,
    compile_plan,
)
from app.tools.environments import built_in, is_graded_by
from app.tools.references import ReinforcementBody
from app.tools.registry import LabelChanges

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


OPTIONS: Final = "options"


def checked_options(recipe: RecipeText) -> RequestedMethod:
    checked_knobs(recipe.knobs, recipe.method)
    plan = compile_plan(
        PlanRequest(kind=recipe.method, knobs=recipe.knobs, call={}, options=recipe.options)
    )
    body = _read(recipe, plan)
    walked = list(walk_fields(type(body), body))
    _refuse_unread(recipe, body, walked)
    _refuse_replaced(recipe, plan)
    _refuse_secrets(body)
    if isinstance(body, ReinforcementBody):
        for fault in reinforcement_faults(body, OPTIONS, walked):
            raise fault
    return body


def uncalled_options(body: RequestedMethod) -> tuple[str, ...]:
    """As for a job: a built-in environment calls nothing beside a grader of one's own."""
    if not isinstance(body, ReinforcementBody):
        return ()
    environment = built_in(body.environment)
    if environment is None or body.grader is None or is_graded_by(environment, body.grader):
        return ()
    return ("environment",)


def _read(recipe: RecipeText, plan: CompiledPlan) -> RequestedMethod:
    try:
        return BODIES[recipe.method].model_validate(plan.job["method"][recipe.method])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise refusal(parameter(OPTIONS, fault["loc"]), [fault]) from error


def _refuse_unread(
    recipe: RecipeText, body: RequestedMethod, walked: Sequence[WalkedField]
) -> None:
    hints = parameters_of(recipe.method, body)
    for field in walked:
        if (unknown := unknown_key_error(field, OPTIONS, hints)) is not None:
            raise unknown
    for key in unread(walked, OPTIONS, hints):
        raise InvalidRequest(key.message, param=key.param, code=UNKNOWN_PARAMETER)


def _refuse_replaced(recipe: RecipeText, plan: CompiledPlan) -> None:
    for knob in plan.explanation:
        for setting in knob.settings:
            path = setting.parameter.removeprefix(f"method.{recipe.method}.")
            if _differs(recipe.options, path, setting.value):
                raise refused_value(
                    f"{OPTIONS}.{path}",
                    f"the knob '{knob.knob}' sets it to {setting.value}: remove the option, or "
                    "send another position of the knob",
                )


def _differs(options: dict[str, Any], path: str, value: Any) -> bool:
    found: Any = options
    for name in path.split("."):
        if found is None:
            return False
        if not isinstance(found, dict):
            return True
        found = found.get(name)
    return found is not None and found != value


def _refuse_secrets(body: RequestedMethod) -> None:
    _, secrets = split((type(body),), body.model_dump(mode="json"))
    for at in secrets:
        param = parameter(OPTIONS, tuple(at.strip("/").split("/")))
        raise InvalidRequest(
            f"'{param}' is a secret, and a recipe shows all of its options. Register the "
            'grader, tool or environment, and name it here by its id: {"id": "…"}.',
            param=param,
            code="invalid_value",
        )


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
        """Returns what was sent; `null` does not remove a part that every recipe has."""
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
