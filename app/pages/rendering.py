"""Renders the templates of pages, with their headers and the formats of numbers and texts."""

import json
import math
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.jobs.jobs import Job
from app.kit.callers import Principal
from app.kit.slots import SharedSlots

PART: Final = "hx-request"
"""Header of a request with which a page refreshes a part of itself."""


def wants_page(headers: Mapping[str, str]) -> bool:
    """Returns true for a client that requests HTML by name, as browsers do, and for a part of a
    page. A client that sends an API key, prefers JSON or accepts anything is a program. Credentials
    of another scheme belong to a proxy in front of the service; browsers send them with every
    request.
    """
    scheme, _, _ = headers.get("authorization", "").strip().partition(" ")
    if scheme.casefold() == "bearer":
        return False
    return headers.get(PART) == "true" or prefers_html(headers)


def prefers_html(headers: Mapping[str, str]) -> bool:
    accepted = _qualities(headers.get("accept", ""))
    html = accepted.get("text/html", 0.0)
    return html > 0 and html >= accepted.get("application/json", 0.0)


def _qualities(header: str) -> dict[str, float]:
    found = dict[str, float]()
    for entry in header.lower().split(","):
        kind, *parameters = (part.strip() for part in entry.split(";"))
        sent = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        try:
            found[kind] = float(sent)
        except ValueError:
            found[kind] = 0.0
    return found


CUT_AT: Final = 4000
"""Characters of a text that a page shows; the raw JSON has all of it."""
LONG_CUT_AT: Final = 20_000
"""Characters of an answer, of a tool's output or of a command that a page shows."""
_DEEPEST: Final = 20
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_ABSENT: Final = "–"
_LARGE: Final = 1e6
_SMALL: Final = 1e-3


def number(value: float | None) -> str:
    """Formats with three digits behind the leading one; counts have separators of thousands."""
    if value is None or not math.isfinite(value):
        return _ABSENT
    if value == int(value) and abs(value) < _LARGE * _LARGE:
        return f"{int(value):,}"
    if abs(value) >= _LARGE or abs(value) < _SMALL:
        return f"{value:.3g}"
    return f"{value:.4g}"


def share(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.1%}"


def change(value: float | None) -> str:
    if value is None:
        return _ABSENT
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{number(abs(value))}"


def duration(seconds: float | None) -> str:
    """Formats the two largest units, such as `1 h 5 min` or `250 ms`."""
    if seconds is None:
        return _ABSENT
    if 0 < seconds < 1:
        return f"{max(1, round(1000 * seconds))} ms"
    left = round(seconds)
    if left < _MINUTE:
        return f"{number(round(seconds, 1))} s"
    if left < _HOUR:
        return f"{left // _MINUTE} min {left % _MINUTE} s"
    if left < _DAY:
        return f"{left // _HOUR} h {left % _HOUR // _MINUTE} min"
    return f"{left // _DAY} d {left % _DAY // _HOUR} h"


def moment(unix: float | None) -> str:
    if unix is None:
        return _ABSENT
    return f"{datetime.fromtimestamp(unix, UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(unix: float) -> str:
    return datetime.fromtimestamp(unix, UTC).isoformat()


def words(name: str) -> str:
    return name.replace("_", " ")


def cut(text: str, length: int = CUT_AT) -> str:
    left_out = len(text) - length
    return text if left_out <= 0 else f"{text[:length]}… ({left_out:,} more characters)"


def pretty(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply for a page; the raw JSON has it)"
    if len(text) > CUT_AT or _depth(text) > _DEEPEST:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _depth(text: str) -> int:
    depth = deepest = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest


def curl(url: str, headers: Mapping[str, str], body: str) -> str:
    """Returns a command of quoted parts; an empty text for a body too long for a page."""
    if len(body) > LONG_CUT_AT:
        return ""
    lines = [f"curl {shlex.quote(url)}"]
    lines += [f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    lines.append(f"  --data-raw {shlex.quote(body)}")
    return " \\\n".join(lines)


Made = TypeVar("Made")
_AT_ONCE: Final = 4
_THREADS: Final = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="pages")
_SLOTS: Final = SharedSlots(None, of_organization=_AT_ONCE - 1)
"""Slots of projects and organizations; the pool limits the pages of all organizations together."""


async def made_on_thread(principal: Principal, make: Callable[[], Made]) -> Made:
    return await _SLOTS.run_on_thread(
        principal.organization_id, principal.scope_id, make, threads=_THREADS
    )


def job_labels(jobs: Sequence[Job]) -> list[str]:
    counts = Counter(job.suffix for job in jobs)
    return [job.suffix if job.suffix and counts[job.suffix] == 1 else job.id for job in jobs]


LISTED_ROWS: Final = 500
"""Rows of a file in the table of a page, which says how many more there are."""
_ROOM: Final = Path(__file__).parent
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
_FILTERS: Final = (number, share, change, duration, moment, iso, words, cut, pretty, curl)
TEMPLATES.filters.update({made.__name__: made for made in _FILTERS})


def page(name: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    content = TEMPLATES.get_template(name).render(**values)
    return HTMLResponse(content, status_code=status_code, headers={**HEADERS, **_PRIVATE})


def redirect(path: str) -> Response:
    return RedirectResponse(path, status_code=303, headers=dict(HEADERS))


def wants_part(request: Request) -> bool:
    return request.headers.get(PART) == "true"
