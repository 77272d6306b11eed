"""A plan of the pages: recipe, examples and knobs as the call that the compile service takes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import ValidationError

from app.dashboard.visitors import Visitor
from app.domain.errors import InvalidRequest
from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.requests import JobRequest
from app.domain.methods.stop import Action
from app.domain.plans.estimates import PlanEstimate, plan_estimate
from app.domain.plans.knobs import EFFORTS, PRESET_MODES, Knobs
from app.domain.plans.plan import CompiledPlan, PlanRequest, compile_plan
from app.domain.plans.recipes import PlanRecipe
from app.domain.plans.requests import job_request
from app.domain.students.students import PREFIX

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "practice_mode": PRESET_MODES,
    "effort": EFFORTS,
    "auto_stop": ACTIONS,
}
SLIDERS: Final = ("drift_guard", "creativity")
STUDENT: Final = "student"
CURRICULUM: Final = "curriculum"
RECIPE: Final = "recipe"
"""Keys of a job's metadata by which the pages find it again."""


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A compiled plan with its price and what stands in its way."""

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
    """Compiles a plan and checks its job, as the API does. Without a curriculum the recipe's own
    sample is practised. Raises `NotFound` for an unknown recipe.
    """
    recipe = await visitor.services.recipes().usable(recipe_id)
    call: dict[str, Any] = {"model": f"{PREFIX}{student}"}
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
    """Returns the recipe's positions, with those that were chosen. Raises `InvalidRequest`."""
    chosen: dict[str, Any] = {name: sent[name] for name in CHOICES if sent.get(name)}
    for name in SLIDERS:
        if sent.get(name):
            chosen[name] = _position(name, sent[name])
    known = recipe.knobs.model_dump(exclude_none=True)
    if recipe.method != "reinforcement":
        chosen.pop("creativity", None)
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
