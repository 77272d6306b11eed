"""Routes of the specification and of the page that shows it.

The page works without a network: everything it loads is in `reference_page/`, and its content
security policy admits nothing else. The page's program is Swagger UI, unchanged
(`reference_page/SHA256SUMS`). No key is needed.
"""

import asyncio
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from app.http.specification import SpecifiedApp

router = APIRouter(include_in_schema=False)
_FILES: Final = StaticFiles(directory=Path(__file__).with_name("reference_page"))
_HEADERS: Final = {
    # Swagger UI sets styles of elements, and has its icons in data URLs.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
"""Headers by which a browser checks the file each time, and gets 304 while it is unchanged."""


@router.get("/openapi.json")
@router.get("/v1/openapi.json")
async def specification(request: Request) -> Response:
    """Returns the specification. The first call builds it on a thread, in about a second."""
    app = request.app
    if not isinstance(app, SpecifiedApp):
        raise TypeError("the application has no specification")
    content = await asyncio.to_thread(app.specification)
    return Response(content, media_type="application/json")


@router.get("/docs/reference")
async def without_slash() -> Response:
    """Redirects to the page, whose links are relative."""
    return RedirectResponse("reference/", status_code=307, headers=_HEADERS)


@router.get("/docs/reference/")
async def page(request: Request) -> Response:
    return await _file(request, "index.html")


@router.get("/docs/reference/{name}")
async def asset(request: Request, name: str) -> Response:
    return await _file(request, name)


async def _file(request: Request, name: str) -> Response:
    reply = await _FILES.get_response(name, request.scope)
    reply.headers.update(_HEADERS)
    return reply
