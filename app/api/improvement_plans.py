"""Routes of improvement plans, which compile knobs to a job and read a job as knobs."""

import asyncio

from fastapi import APIRouter, Request

from app.api.schemas.improvement_plans import (
    CompileImprovementPlan,
    ExplainImprovementPlan,
    ImprovementPlan,
    ImprovementPlanReading,
)
from app.api.support.checked_plans import checked_plan
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.domain.plans.knob_readings import reading_of

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
    return ImprovementPlanReading.of(kind, reading, warnings)
