"""Routes of the pages of documentation, which `python -m docs.site.build` makes from Markdown.

Promises that a page loads nothing from another host and runs no script but files of this service.
No session is needed. A checkout whose pages are not built shows how to build them.
"""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from app.dashboard.rendering.pages import HEADERS, page

router = APIRouter(include_in_schema=False)
SITE: Final = Path(__file__).with_name("site")
_FILES: Final = StaticFiles(directory=SITE, check_dir=False)
_FIRST: Final = "index.html"
_POLICY: Final = "content-security-policy"
_HEADERS: Final = {
    **HEADERS,
    # The theme has its icons in data URLs.
    _POLICY: HEADERS[_POLICY].replace("img-src 'self'", "img-src 'self' data:"),
    "cache-control": "no-cache",
}
"""Headers by which a browser checks the file each time, and gets 304 while it is unchanged."""


@router.get("/docs")
async def without_slash() -> Response:
    """Redirects to the first page, below which the links of all pages are relative."""
    return RedirectResponse("docs/", status_code=307, headers=dict(HEADERS))


@router.get("/docs/{path:path}")
async def document(request: Request, path: str) -> Response:
    if not path and not (SITE / _FIRST).exists():
        return page("documentation.html")
    reply = await _FILES.get_response(path or _FIRST, request.scope)
    reply.headers.update(_HEADERS)
    return reply
