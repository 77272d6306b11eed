"""Route of the preflight check, which checks a create call and makes no job."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request

from app.api.schemas.jobs import CreateFineTuningJob
from app.api.schemas.preflight import FineTuningJobValidation, read_call
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.domain.errors import InvalidRequest
from app.domain.jobs.creation.preflight import PreflightReport, issue_of
from app.factory.project import Factory
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(prefix="/v1/fine_tuning/jobs", tags=["Fine-tuning"])
# The body is parsed in the route: a fault in it is part of the answer, not a 400.
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{CreateFineTuningJob.__name__}"}
            }
        },
    }
}


@router.post(
    "/validate",
    operation_id="validateFineTuningJob",
    responses=responses(),
    openapi_extra=_BODY,
)
async def validate_job(request: Request, services: Services) -> FineTuningJobValidation:
    """Checks the body of a create call. Reports every fault at once, lengths, reachability of
    endpoints and an estimate, and makes no job.
    """
    body = await request.json() if await request.body() else None
    if not isinstance(body, dict):
        raise InvalidRequest("The request body must be a JSON object (application/json).")
    return FineTuningJobValidation.of(await unless_client_hangs_up(request, _check(body, services)))


async def _check(body: dict[str, Any], services: Factory) -> PreflightReport:
    new, faults = read_call(body)
    async with services.readable_calls().readable(body, new) as call:
        refusal = call.fault
        if new is not None:
            new = new.with_grader(call.grader_choice)
            if refusal is None:
                refusal = await services.job_creation().refusal(new.with_files(call.body))
        known = {fault.param for fault in faults if new is None}
        found = [] if refusal is None or refusal.param in known else [issue_of(refusal)]
        # The first error is the one that a create call answers with.
        issues = [*faults, *found] if new is None else [*found, *faults]
        report = await services.preflight().check(
            call.body, new, [*issues, *call.warnings], servers=call.servers
        )
        return replace(report, grader_choice=call.grader_choice)
