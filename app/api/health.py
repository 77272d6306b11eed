"""Liveness, readiness, and the page at the root for browsers."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse

from app.api.schemas.health import NotReady, Readiness
from app.api.support.dependencies import Context
from app.api.support.errors import RETRY_AFTER_S

router = APIRouter(tags=["Service"])
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>agent-rft</title>
<body><h1>agent-rft</h1><p>The service is up. The API is under <code>/v1</code>; its reference
is at <a href="/docs">/docs</a>.</p></body></html>"""


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
    """Reports the parts of the service: database, disk, broker, worker, engine. Answers 503 while
    the database does not answer or a disk has less free space than the minimum.
    """
    health = await context.health.look()
    if health.ready:
        return Readiness.of(health)
    body = NotReady.of(health).model_dump(mode="json")
    return JSONResponse(body, status_code=503, headers={"retry-after": RETRY_AFTER_S})


@router.get("/", include_in_schema=False)
async def home() -> HTMLResponse:
    return HTMLResponse(_PAGE)
