"""Routes of the files that pages load: style, scripts, the libraries htmx and uPlot.

The libraries are unchanged (`static/SHA256SUMS`). No session is needed.
"""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.staticfiles import StaticFiles

from app.dashboard.rendering.pages import HEADERS

router = APIRouter(include_in_schema=False)
_FILES: Final = StaticFiles(directory=Path(__file__).with_name("static"))


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    """Returns one file. A browser revalidates it each time, and gets 304 while it is unchanged."""
    reply = await _FILES.get_response(name, request.scope)
    reply.headers.update({**HEADERS, "cache-control": "no-cache"})
    return reply
