"""Routes of the files that pages load, of the documentation, and of the page of the specification.

The libraries htmx, uPlot and Swagger UI are unchanged (`SHA256SUMS` beside each). The page of the
specification works without a network: its content security policy admits nothing else. No session
and no key is needed.
"""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles

from app.http.specification import COMMITTED
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
_SITE_FILES: Final = StaticFiles(directory=SITE, check_dir=False)
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
    return RedirectResponse("docs/", status_code=307, headers=dict(HEADERS))


@documentation_router.get("/docs/{path:path}")
async def document(request: Request, path: str) -> Response:
    if not path and not (SITE / _FIRST).exists():
        return page("documentation.html")
    reply = await _SITE_FILES.get_response(path or _FIRST, request.scope)
    reply.headers.update(_HEADERS)
    return reply


reference_router = APIRouter(include_in_schema=False)
_REFERENCE_FILES: Final = StaticFiles(directory=Path(__file__).with_name("reference_page"))
_REFERENCE_HEADERS: Final = {
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


@reference_router.get("/openapi.json")
@reference_router.get("/v1/openapi.json")
async def specification() -> Response:
    return FileResponse(COMMITTED, media_type="application/json")


@reference_router.get("/docs/reference")
async def reference_without_slash() -> Response:
    return RedirectResponse("reference/", status_code=307, headers=_REFERENCE_HEADERS)


@reference_router.get("/docs/reference/")
async def reference(request: Request) -> Response:
    return await _reference_file(request, "index.html")


@reference_router.get("/docs/reference/{name}")
async def reference_asset(request: Request, name: str) -> Response:
    return await _reference_file(request, name)


async def _reference_file(request: Request, name: str) -> Response:
    reply = await _REFERENCE_FILES.get_response(name, request.scope)
    reply.headers.update(_REFERENCE_HEADERS)
    return reply
