"""Refuses query parameters that a route does not read: a misspelt filter would list everything."""

from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.domain.errors import InvalidRequest

_READS: Final = frozenset({"GET", "HEAD"})
_MAPS: Final = ("metadata",)
"""Parameters that also come as `name[key]=value`, which no declaration can list."""
_IGNORED: Final = frozenset({"api-version"})
"""Clients of other servers with the same API send it with each call."""
_SHOWN: Final = 64


def check_query(request: Request) -> None:
    """Raises `InvalidRequest` for the first parameter of a GET that its route does not declare."""
    route = request.scope.get("route")
    if not request.query_params or request.method not in _READS or not isinstance(route, APIRoute):
        return
    known = _declared(route)
    for name in request.query_params:
        if name not in known | _IGNORED and not _is_entry(name, known):
            shown = name[:_SHOWN]
            raise InvalidRequest(
                f"Unknown query parameter: '{shown}'.", param=shown, code="unknown_parameter"
            )


def _declared(route: APIRoute) -> set[str]:
    names = set[str]()
    for field in route.dependant.query_params:
        info: FieldInfo = field.field_info
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            names.update(info.annotation.model_fields)
        else:
            names.add(field.alias)
    return names


def _is_entry(name: str, known: set[str]) -> bool:
    head, bracket, tail = name.partition("[")
    return head in _MAPS and head in known and bool(bracket) and tail.endswith("]")
