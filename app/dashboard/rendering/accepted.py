"""Reads whether a client wants a page in reply, or JSON. Pure."""

from collections.abc import Mapping
from typing import Final

PART: Final = "hx-request"
"""Header of a request with which a page refreshes a part of itself."""
_HTML: Final = "text/html"
_JSON: Final = "application/json"


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
    """Returns true if the client accepts HTML and does not prefer JSON."""
    accepted = _qualities(headers.get("accept", ""))
    html = accepted.get(_HTML, 0.0)
    return html > 0 and html >= accepted.get(_JSON, 0.0)


def _qualities(header: str) -> dict[str, float]:
    """Returns the quality of each range of an `Accept` header; 0 for one that cannot be read."""
    found = dict[str, float]()
    for entry in header.lower().split(","):
        kind, *parameters = (part.strip() for part in entry.split(";"))
        sent = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        try:
            found[kind] = float(sent)
        except ValueError:
            found[kind] = 0.0
    return found
