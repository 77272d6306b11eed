"""Liveness, readiness, and the page at the root for browsers."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.api.support.dependencies import Context
from app.api.support.errors import unavailable

router = APIRouter(tags=["Service"])
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>agent-rft</title>
<body><h1>agent-rft</h1><p>The service is up. The API is under <code>/v1</code>; its reference
is at <a href="/docs">/docs</a>.</p></body></html>"""


@router.get("/healthz", operation_id="liveness")
async def liveness() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", operation_id="readiness", responses=unavailable())
async def readiness(context: Context) -> dict[str, str]:
    """Answers 503 while the database does not answer."""
    await context.ready()
    return {"status": "ok"}


@router.get("/", include_in_schema=False)
async def home() -> HTMLResponse:
    return HTMLResponse(_PAGE)
