"""Liveness and readiness."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from app.api.schemas.health import NotReady, Readiness
from app.api.support.dependencies import Context
from app.api.support.errors import RETRY_AFTER_S

router = APIRouter(tags=["Service"])


@router.get("/healthz", operation_id="liveness")
async def liveness() -> dict[str, str]:
    """Answers while the process runs. Needs no key."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    operation_id="readiness",
    response_model=Readiness,
    responses={503: {"model": NotReady, "description": "The database or the disk fails."}},
)
async def readiness(context: Context) -> Readiness | JSONResponse:
    """Reports the parts of the service: database, disk, broker, worker, engine, sandbox. Answers
    503 while the database does not answer or a disk has less free space than the minimum.
    """
    health = await context.health.look()
    if health.ready:
        return Readiness.of(health)
    body = NotReady.of(health).model_dump(mode="json")
    return JSONResponse(body, status_code=503, headers={"retry-after": RETRY_AFTER_S})
