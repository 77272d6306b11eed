"""Compiles the plan of a request and checks its job, as `validate` checks it.

Promises: what grows with the body runs on a thread, and a client that hangs up ends the check.
"""

import asyncio
from collections.abc import Callable

from fastapi import Request

from app.api.schemas.improvement_plans import ImprovementPlan
from app.api.schemas.preflight import read_call
from app.api.support.dependencies import Services
from app.domain.errors import refused_value
from app.domain.jobs.creation.requests import JobRequest
from app.domain.plans.knobs import PARAM
from app.domain.plans.plan import PlanRequest, compile_plan
from app.domain.plans.recipes import PlanRecipe
from app.web.hang_up import unless_client_hangs_up


async def checked_plan(
    request: Request,
    services: Services,
    *,
    recipe: PlanRecipe | None,
    request_of: Callable[[PlanRecipe | None], PlanRequest],
) -> tuple[ImprovementPlan, JobRequest]:
    """Returns the compiled plan, and its job as a create call. Raises `InvalidRequest` with the
    plan's own parameter, or `NotFound` for an object that the project does not have.
    """
    plan = await asyncio.to_thread(lambda: compile_plan(request_of(recipe)))
    call, faults = await asyncio.to_thread(read_call, plan.job)
    check = services.call_check().report(plan.job, call, faults)
    shown = ImprovementPlan.of(plan, recipe, await unless_client_hangs_up(request, check))
    if call is None:
        raise refused_value(PARAM, "the job that it compiles to cannot be read")
    return shown, call
