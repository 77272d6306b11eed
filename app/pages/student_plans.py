"""A plan of the pages: recipe, examples and knobs as the call that the compile service takes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, assert_never, get_args

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.jobs.jobs import JobRequest
from app.jobs.stop_options import Action
from app.kit.errors import InvalidRequest, PreflightIssue
from app.models.models import STUDENT_PREFIX
from app.pages.curricula import rows_of
from app.pages.examples import KINDS, ExampleKind
from app.pages.rendering import redirect, wants_part
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Visitor
from app.teaching.plans.knob_readings import PlanEstimate, plan_estimate
from app.teaching.plans.plans import (
    EFFORTS,
    PRESET_MODES,
    CompiledPlan,
    KnobName,
    Knobs,
    PlanRequest,
    compile_plan,
    job_request,
)
from app.teaching.recipes.recipes import PlanRecipe
from app.tools.registry import RegisteredVersion

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "practice_mode": PRESET_MODES,
    "effort": EFFORTS,
    "auto_stop": ACTIONS,
}
SLIDERS: Final = ("drift_guard",)
STUDENT: Final = "student"
CURRICULUM: Final = "curriculum"
RECIPE: Final = "recipe"
"""Keys of a job's metadata by which the pages find it again."""


@dataclass(frozen=True, slots=True)
class ShownPlan:
    recipe: PlanRecipe
    plan: CompiledPlan
    call: JobRequest
    issues: tuple[PreflightIssue, ...]
    estimate: PlanEstimate | None

    @property
    def errors(self) -> list[PreflightIssue]:
        return [issue for issue in self.issues if issue.severity == "error"]


async def shown_plan(
    visitor: Visitor, student: str, recipe_id: str, *, curriculum: str, knobs: Mapping[str, str]
) -> ShownPlan:
    """Compiles a plan and checks its job, by default on the recipe's sample. Raises `NotFound`."""
    recipe = await visitor.services.recipes().usable(recipe_id)
    call: dict[str, Any] = {"model": f"{STUDENT_PREFIX}{student}"}
    call["metadata"] = {STUDENT: student, RECIPE: recipe.id, CURRICULUM: curriculum}
    sample = recipe.sample_curriculum
    if curriculum:
        call["curriculum"] = curriculum
    elif sample is not None:
        call["curriculum"] = sample.model_dump(mode="json")
    request = PlanRequest(
        kind=recipe.method, knobs=knobs_of(recipe, knobs), call=call, options=recipe.options
    )
    plan = await asyncio.to_thread(compile_plan, request)
    job = await asyncio.to_thread(job_request, plan)
    report = await visitor.services.call_check().report(plan.job, job, [])
    estimate = plan_estimate(recipe.method, plan.job, report)
    return ShownPlan(recipe, plan, job, report.issues, estimate)


def knobs_of(recipe: PlanRecipe, sent: Mapping[str, str]) -> Knobs:
    chosen: dict[str, Any] = {name: sent[name] for name in CHOICES if sent.get(name)}
    for name in SLIDERS:
        if sent.get(name):
            chosen[name] = _position(name, sent[name])
    known = recipe.knobs.model_dump(exclude_none=True)
    if "practice_mode" in chosen:
        known.pop("n_epochs", None)
    try:
        return Knobs.model_validate({**known, **chosen})
    except ValidationError as error:
        knob = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise InvalidRequest(f"'{knob}' has no such position; choose one of the page.") from error


def _position(name: str, sent: str) -> int:
    if not (sent.isascii() and sent.isdecimal() and len(sent) <= 3):  # noqa: PLR2004 - digits of 100
        raise InvalidRequest(f"'{name}' is a whole number from 0 to 100.")
    return int(sent)


@dataclass(frozen=True, slots=True)
class KnobText:
    label: str
    least: str = ""
    most: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """Position and its words."""


CHOICE_WORDS: Final[Mapping[str, KnobText]] = {
    "practice_mode": KnobText(
        "How long to practise",
        choices=(
            ("quick", "Quick: a first look"),
            ("balanced", "Balanced: the usual"),
            ("thorough", "Thorough: the longest"),
        ),
    ),
    "effort": KnobText(
        "Effort for each example",
        choices=(
            ("light", "Light"),
            ("standard", "Standard"),
            ("strong", "Strong"),
            ("maximum", "Maximum"),
        ),
    ),
    "auto_stop": KnobText(
        "When practice no longer helps",
        choices=(
            ("stop", "Stop and keep the best"),
            ("pause", "Pause and wait for me"),
            ("warn", "Only tell me"),
            ("off", "Go on"),
        ),
    ),
}
SLIDER_WORDS: Final[Mapping[str, KnobText]] = {
    "drift_guard": KnobText("Drift guard", "Free to change", "Stay as it is"),
}
_LOW: Final = 34
_HIGH: Final = 67


def knob_words(knob: KnobName, position: Any) -> str:
    match knob:
        case "practice_mode":
            words = _PRACTICE.get(str(position), "The student practises as often as you chose.")
        case "drift_guard":
            words = _third(position, _DRIFT)
        case "effort":
            words = _EFFORT[str(position)]
        case "creativity":
            words = _third(position, _CREATIVITY)
        case "auto_stop":
            words = _STOP[str(position)]
        case "target" if position is None:
            words = "There is no score at which practice ends by itself."
        case "target":
            words = f"Practice ends once tests reach the score {position:g}."
        case _:
            assert_never(knob)
    return words


def _third(position: int, words: tuple[str, str, str]) -> str:
    return words[0] if position < _LOW else words[1] if position < _HIGH else words[2]


_PRACTICE: Final[Mapping[str, str]] = {
    "quick": "The student goes over the examples once, to see whether anything moves.",
    "balanced": "The student goes over the examples a few times.",
    "thorough": "The student goes over the examples many times; this takes longest.",
}
_DRIFT: Final = (
    "The student may change a lot. It learns fastest, and may lose something that it could do.",
    "The student may change, but is held near to how it answers today.",
    "The student is held close to how it answers today. It learns slowly and loses little.",
)
_EFFORT: Final[Mapping[str, str]] = {
    "light": "Few attempts at each example: cheap, and the tests are rough.",
    "standard": "The usual number of attempts at each example.",
    "strong": "Many attempts at each example, and surer tests.",
    "maximum": "The most attempts at each example: the dearest, for hard tasks.",
}
_CREATIVITY: Final = (
    "The best version is chosen among answers with little variety: good where one answer is right.",
    "The best version is chosen among answers with the usual variety.",
    "The best version is chosen among answers with much variety: good for ideas, bad for facts.",
)
_STOP: Final[Mapping[str, str]] = {
    "stop": "Practice ends by itself when it no longer helps, and the best version is kept.",
    "pause": "Practice pauses when it no longer helps, until you decide.",
    "warn": "You see a warning when practice no longer helps; it continues.",
    "off": "Practice continues to its end, also when it no longer helps.",
}


router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/teach/students/{name}")
_LISTED: Final = 100
Id = Annotated[str, Query(max_length=128)]
Knob = Annotated[str, Field(max_length=16)]
_Id = Annotated[str, Field(max_length=128)]


class PlanQuery(BaseModel):
    """The fields of the form of a plan; an empty knob is at the recipe's position."""

    model_config = ConfigDict(extra="forbid")

    recipe: _Id
    curriculum: _Id = ""
    practice_mode: Knob = ""
    drift_guard: Knob = ""
    effort: Knob = ""
    auto_stop: Knob = ""


@router.get("/practice")
async def recipes_page(name: str, visitor: SignedIn, curriculum: Id = "") -> Response:
    student = await visitor.services.students().get(name)
    curricula, _ = await visitor.services.curricula().page(after=None, limit=_LISTED)
    chosen = await _chosen(visitor, curriculum)
    kind = None if chosen is None else (await rows_of(visitor, chosen)).kind
    shipped = None if kind is None else KINDS[kind].recipe
    recipes, _ = await visitor.services.recipes().page(after=None, limit=_LISTED)
    recipes = sorted(recipes, key=lambda recipe: recipe.id != shipped)
    titles = {text.recipe: text.title for text in KINDS.values()}
    return await visitor.page(
        "students/recipes.html",
        lambda: {
            "fitting": {recipe.id for recipe in recipes if _fits(recipe, kind)},
            "kinds": {recipe.id: titles.get(recipe.id, "") for recipe in recipes},
        },
        student=student,
        recipes=recipes,
        fits_shipped=shipped is not None,
        chosen=chosen,
        curricula=curricula,
    )


@router.get("/estimate")
async def estimate_part(name: str, visitor: SignedIn, recipe: Id, curriculum: Id = "") -> Response:
    await visitor.services.students().get(name)
    await _chosen(visitor, curriculum)
    plan = await shown_plan(visitor, name, recipe, curriculum=curriculum, knobs={})
    return await visitor.page("students/estimate.html", estimate=plan.estimate, errors=plan.errors)


@router.get("/plan")
async def plan_page(
    request: Request, name: str, visitor: SignedIn, sent: Annotated[PlanQuery, Query()]
) -> Response:
    """Shows the knobs with what they do and cost; a part of the page renews itself with them."""
    student = await visitor.services.students().get(name)
    chosen = await _chosen(visitor, sent.curriculum)
    plan = await shown_plan(
        visitor, name, sent.recipe, curriculum=sent.curriculum, knobs=sent.model_dump()
    )
    template = "students/plan_part.html" if wants_part(request) else "students/plan.html"
    return await visitor.page(template, lambda: _shown(plan), student=student, chosen=chosen)


@router.post("/plan")
async def start(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await visitor.services.students().get(name)
    knobs = {knob: form.get(knob, "") for knob in (*CHOICES, *SLIDERS)}
    recipe, curriculum = form.get("recipe", ""), form.get("curriculum", "")
    await _chosen(visitor, curriculum)
    plan = await shown_plan(visitor, name, recipe, curriculum=curriculum, knobs=knobs)
    if plan.errors:
        raise InvalidRequest(plan.errors[0].message, param=plan.errors[0].param)
    job = await visitor.services.job_creation().create(plan.call)
    return redirect(f"/teach/students/{name}/jobs/{job.id}")


async def _chosen(visitor: Visitor, curriculum: str) -> RegisteredVersion | None:
    return await visitor.services.curricula().get(curriculum) if curriculum else None


def _fits(recipe: PlanRecipe, kind: ExampleKind | None) -> bool:
    """Returns whether a recipe can practise examples; pairs are for preference methods alone."""
    text = None if kind is None else KINDS[kind]
    if recipe.owner == "service":
        return text is not None and recipe.id == text.recipe
    return (recipe.method == "dpo") == (text is not None and text.method == "dpo")


def _shown(plan: ShownPlan) -> Mapping[str, Any]:
    knobs = plan.plan.knobs.model_dump()
    return {
        "recipe": plan.recipe,
        "knobs": knobs,
        "sentences": [
            (each, knob_words(each.knob, each.position))
            for each in plan.plan.explanation
            if each.settings
        ],
        "choices": {name: CHOICE_WORDS[name] for name in CHOICES},
        "sliders": {name: SLIDER_WORDS[name] for name in SLIDERS if knobs[name] is not None},
        "estimate": plan.estimate,
        "errors": plan.errors,
        "warnings": [issue for issue in plan.issues if issue.severity != "error"],
    }
