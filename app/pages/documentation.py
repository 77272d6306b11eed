"""Routes of the files that pages load: style, scripts, the libraries htmx and uPlot.

The libraries are unchanged (`static/SHA256SUMS`). No session is needed.
"""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from app.pages.rendering import HEADERS, page

router = APIRouter(include_in_schema=False)
_FILES: Final = StaticFiles(directory=Path(__file__).with_name("static"))


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    """Returns one file. A browser revalidates it each time, and gets 304 while it is unchanged."""
    reply = await _FILES.get_response(name, request.scope)
    reply.headers.update({**HEADERS, "cache-control": "no-cache"})
    return reply


documentation_router = APIRouter(include_in_schema=False)
SITE: Final = Path(__file__).with_name("site")
_FILES_DOCUMENTATION: Final = StaticFiles(directory=SITE, check_dir=False)
_FIRST: Final = "index.html"
_POLICY: Final = "content-security-policy"
_HEADERS: Final = {
    **HEADERS,
    # The theme has its icons in data URLs.
    _POLICY: HEADERS[_POLICY].replace("img-src 'self'", "img-src 'self' data:"),
    "cache-control": "no-cache",
}
"""Headers by which a browser checks the file each time, and gets 304 while it is unchanged."""


@documentation_router.get("/docs")
async def without_slash() -> Response:
    """Redirects to the first page, below which the links of all pages are relative."""
    return RedirectResponse("docs/", status_code=307, headers=dict(HEADERS))


@documentation_router.get("/docs/{path:path}")
async def document(request: Request, path: str) -> Response:
    if not path and not (SITE / _FIRST).exists():
        return page("documentation.html")
    reply = await _FILES_DOCUMENTATION.get_response(path or _FIRST, request.scope)
    reply.headers.update(_HEADERS)
    return reply
