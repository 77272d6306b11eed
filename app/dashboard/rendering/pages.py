"""Renders pages: the templates, the headers of every reply, and the policy of contents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.dashboard.rendering import formats
from app.dashboard.rendering.accept_header import PART
from app.dashboard.rendering.curl import curl

LISTED_ROWS: Final = 500
"""Rows of a file in the table of a page, which says how many more there are."""
_ROOM: Final = Path(__file__).parents[1]
HEADERS: Final[Mapping[str, str]] = {
    # No inline script and no inline style: what a model or a tool wrote can be neither.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    # `no-referrer` would make a browser send `Origin: null` with the page's own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_PRIVATE: Final = {"cache-control": "no-store"}
TEMPLATES: Final = Environment(
    autoescape=True,
    loader=FileSystemLoader(_ROOM / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
TEMPLATES.filters.update(
    number=formats.number,
    share=formats.share,
    change=formats.change,
    duration=formats.duration,
    moment=formats.moment,
    iso=formats.iso,
    words=formats.words,
    cut=formats.cut,
    pretty=formats.pretty,
    curl=curl,
)


def page(name: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Renders a template with the values that it names; a missing one is an error."""
    content = TEMPLATES.get_template(name).render(**values)
    return HTMLResponse(content, status_code=status_code, headers={**HEADERS, **_PRIVATE})


def wants_part(request: Request) -> bool:
    """Returns True for a request with which a page refreshes a part of itself."""
    return request.headers.get(PART) == "true"
