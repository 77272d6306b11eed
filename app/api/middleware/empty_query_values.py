"""Reads an empty value in the query of a GET as an absent parameter.

Clients send one for an explicit null: `?limit=&after=`. Values of maps (`metadata[key]=`) stay,
because an empty text can be stored there. Plain ASGI.
"""

from typing import Final
from urllib.parse import unquote_plus

from starlette.types import ASGIApp, Receive, Scope, Send

from app.web.query_check import EMPTY_QUERY_VALUES, MAPS

_READS: Final = frozenset({"GET", "HEAD"})


class EmptyQueryValues:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _READS and scope["query_string"]:
            sent = scope["query_string"].split(b"&")
            named = {part: _empty_name(part) for part in sent}
            scope.setdefault("state", {})[EMPTY_QUERY_VALUES] = tuple(filter(None, named.values()))
            scope = {**scope, "query_string": b"&".join(p for p in sent if named[p] is None)}
        await self._app(scope, receive, send)


def _empty_name(part: bytes) -> str | None:
    """Returns the name of a parameter without a value; `None` for one with a value."""
    name, _, value = part.partition(b"=")
    decoded = unquote_plus(name.decode("latin-1"))
    is_of_a_map = decoded.endswith("]") and decoded.partition("[")[0] in MAPS
    return None if value or is_of_a_map else decoded
