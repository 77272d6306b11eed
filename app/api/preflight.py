"""Route of the preflight check, which checks a create call and makes no job."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from app.api.schemas.jobs import CreateFineTuningJob
from app.api.schemas.preflight import FineTuningJobValidation, read_call
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.domain.errors import InvalidRequest
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
    call = await asyncio.to_thread(read_call, body)
    check = services.call_check().report(body, *call)
    return FineTuningJobValidation.of(await unless_client_hangs_up(request, check))
