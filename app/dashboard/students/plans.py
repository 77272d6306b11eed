"""Routes of a practice: the choice of a recipe, its price, the knobs, and the start of the job."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, assert_never

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import HEADERS, page, wants_part
from app.dashboard.students.curriculum_rows import rows_of
from app.dashboard.students.example_kinds import KINDS, ExampleKind, kind_of_recipe
from app.dashboard.students.knob_words import CHOICE_WORDS, SLIDER_WORDS, knob_words
from app.dashboard.students.plan_calls import CHOICES, SLIDERS, ShownPlan, shown_plan
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.errors import InvalidRequest
from app.domain.plans.recipes import PlanRecipe
from app.domain.registry.registered_objects import RegisteredVersion

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
    creativity: Knob = ""
    auto_stop: Knob = ""


@router.get("/practice")
async def recipes_page(name: str, visitor: SignedIn, curriculum: Id = "") -> Response:
    """Shows the recipes, first the one that fits the chosen examples."""
    student = await visitor.services.students().get(name)
    curricula, _ = await visitor.services.curricula().page(after=None, limit=_LISTED)
    chosen = await _chosen(visitor, curriculum)
    kind = None if chosen is None else (await rows_of(visitor, chosen)).kind
    shipped = None if kind is None else KINDS[kind].recipe
    recipes, _ = await visitor.services.recipes().page(after=None, limit=_LISTED)
    recipes = sorted(recipes, key=lambda recipe: recipe.id != shipped)
    return await visitor.on_thread(
        lambda: page(
            "students/recipes.html",
            form_token=visitor.form_token,
            student=student,
            recipes=recipes,
            fits_shipped=shipped is not None,
            fitting={recipe.id for recipe in recipes if _fits(recipe, kind)},
            chosen=chosen,
            curricula=curricula,
            kinds={recipe.id: _kind_title(recipe) for recipe in recipes},
        )
    )


@router.get("/estimate")
async def estimate_part(name: str, visitor: SignedIn, recipe: Id, curriculum: Id = "") -> Response:
    """Shows the price of a recipe with its own positions: part of the page of recipes."""
    await visitor.services.students().get(name)
    await _chosen(visitor, curriculum)
    plan = await shown_plan(visitor, name, recipe, curriculum=curriculum, knobs={})
    return await visitor.on_thread(
        lambda: page("students/estimate.html", estimate=plan.estimate, errors=plan.errors)
    )


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
    return await visitor.on_thread(
        lambda: page(
            template,
            form_token=visitor.form_token,
            student=student,
            chosen=chosen,
            **_shown(plan),
        )
    )


@router.post("/plan")
async def start(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    """Makes the job of a plan, which trains from the model that answers for the student now."""
    await visitor.services.students().get(name)
    knobs = {knob: form.get(knob, "") for knob in (*CHOICES, *SLIDERS)}
    recipe, curriculum = form.get("recipe", ""), form.get("curriculum", "")
    await _chosen(visitor, curriculum)
    plan = await shown_plan(visitor, name, recipe, curriculum=curriculum, knobs=knobs)
    if plan.errors:
        raise InvalidRequest(plan.errors[0].message, param=plan.errors[0].param)
    job = await visitor.services.job_creation().create(plan.call)
    path = f"/teach/students/{name}/jobs/{job.id}"
    return RedirectResponse(path, status_code=303, headers=dict(HEADERS))


async def _chosen(visitor: Visitor, curriculum: str) -> RegisteredVersion | None:
    return await visitor.services.curricula().get(curriculum) if curriculum else None


def _fits(recipe: PlanRecipe, kind: ExampleKind | None) -> bool:
    """Returns whether a recipe can practise examples. One of the project's own may rate what no
    shipped one can, except that pairs are for its preference methods alone.
    """
    text = None if kind is None else KINDS[kind]
    match recipe.owner:
        case "service":
            return text is not None and recipe.id == text.recipe
        case "project":
            return (recipe.method == "dpo") == (text is not None and text.method == "dpo")
        case _:
            assert_never(recipe.owner)


def _kind_title(recipe: PlanRecipe) -> str:
    kind = kind_of_recipe(recipe.id)
    return "" if kind is None else KINDS[kind].title


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
