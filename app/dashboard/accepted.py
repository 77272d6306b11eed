"""Reads what a client wants in reply: a page, or JSON. Pure."""

from collections.abc import Mapping
from typing import Final, Literal

Wanted = Literal["page", "json", "either"]
_HTML: Final = "text/html"
_JSON: Final = "application/json"


def wanted(headers: Mapping[str, str]) -> Wanted:
    """Returns `page` for a client that prefers HTML over JSON, `json` for one that prefers JSON or
    sends an API key, `either` for one that says neither.
    """
    if "authorization" in headers:
        return "json"
    accepted = _qualities(headers.get("accept", ""))
    html, json = (_preference(accepted, kind) for kind in (_HTML, _JSON))
    if html == json:
        return "either"
    return "page" if html > json else "json"


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


def _preference(accepted: Mapping[str, float], kind: str) -> tuple[float, int]:
    """Returns the quality of a type, and how exactly it is named, which decides between equals."""
    for exactness, name in ((2, kind), (1, f"{kind.partition('/')[0]}/*"), (0, "*/*")):
        if name in accepted:
            return accepted[name], exactness
    return 0.0, 0
