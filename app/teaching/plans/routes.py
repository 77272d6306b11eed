"""Compiles the plan of a request and checks its job, as `validate` checks it."""

import asyncio
from collections.abc import Callable

from fastapi import APIRouter, Request

from app.http.dependencies import Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.jobs.jobs import JobRequest
from app.jobs.schemas import read_call
from app.kit.errors import refused_value
from app.teaching.plans.knob_readings import reading_of
from app.teaching.plans.plans import PARAM, PlanRequest, compile_plan
from app.teaching.plans.schemas import (
    CompileImprovementPlan,
    ExplainImprovementPlan,
    ImprovementPlan,
    ImprovementPlanReading,
)
from app.teaching.recipes.recipes import PlanRecipe


async def checked_plan(
    request: Request,
    services: Services,
    *,
    recipe: PlanRecipe | None,
    request_of: Callable[[PlanRecipe | None], PlanRequest],
) -> tuple[ImprovementPlan, JobRequest]:
    """Raises `InvalidRequest` with the plan's own parameter, or `NotFound`."""
    plan = await asyncio.to_thread(lambda: compile_plan(request_of(recipe)))
    call, faults = await asyncio.to_thread(read_call, plan.job)
    check = services.call_check().report(plan.job, call, faults)
    shown = ImprovementPlan.of(plan, recipe, await unless_client_hangs_up(request, check))
    if call is None:
        raise refused_value(PARAM, "the job that it compiles to cannot be read")
    return shown, call


router = APIRouter(prefix="/v1/improvement_plans", tags=["Improvement plans"])


@router.post("/compile", operation_id="compileImprovementPlan", responses=responses(404))
async def compile_improvement_plan(
    request: Request, body: CompileImprovementPlan, services: Services
) -> ImprovementPlan:
    """Compiles a plan to the body of a create call, with its cost and an explanation. The body is
    checked as `validate` checks it; no job is made.
    """
    recipe = None if body.recipe is None else await services.recipes().usable(body.recipe)
    shown, _ = await checked_plan(request, services, recipe=recipe, request_of=body.to_request)
    return shown


@router.post("/explain", operation_id="explainImprovementPlan", responses=responses(404))
async def explain_improvement_plan(
    body: ExplainImprovementPlan, services: Services
) -> ImprovementPlanReading:
    """Reads a job backwards: the nearest knob positions, and what they do not express."""
    call = await asyncio.to_thread(body.to_call)
    warnings = await asyncio.to_thread(body.warnings)
    total_steps = None
    if call is None:
        job = await services.jobs().get(str(body.job_id))
        call, total_steps = (job.method.kind, job.method.options, job.caps), job.total_steps
    kind, options, caps = call
    reading = await asyncio.to_thread(reading_of, kind, options, caps=caps, total_steps=total_steps)
    return ImprovementPlanReading.read(
        reading, method=kind, exact=not reading.outside, warnings=warnings
    )
