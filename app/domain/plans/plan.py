"""Compiles an improvement plan to the body of a create call. Pure.

Owns the order in which a recipe, the caller's own parts and the knobs are joined: a later one
replaces an earlier one. Must not know whether files, models or endpoints exist.
"""

from dataclasses import dataclass, field
from typing import Any

from app.domain.methods.supervised import MethodType
from app.domain.plans.knobs import Knobs, checked_knobs
from app.domain.plans.paths import with_value
from app.domain.plans.settings import KnobSettings, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A plan with its recipe filled in."""

    kind: MethodType
    knobs: Knobs
    call: dict[str, Any]
    """Parameters of the job outside its method: model, data, seed, suffix, metadata."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the method before the knobs: those of the recipe, grader and tools."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    job: dict[str, Any]
    """The body of the create call."""
    knobs: Knobs
    explanation: tuple[KnobSettings, ...]


def compile_plan(request: PlanRequest) -> CompiledPlan:
    """Returns the job of a plan. Raises `InvalidRequest` for knobs that mean nothing together."""
    knobs = checked_knobs(request.knobs, request.kind)
    explanation = settings_of(knobs, request.kind)
    method = {"type": request.kind, request.kind: request.options}
    job = {**request.call, "method": method}
    for knob in explanation:
        for setting in knob.settings:
            job = with_value(job, setting.parameter, setting.value)
    return CompiledPlan(job, knobs, explanation)
