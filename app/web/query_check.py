"""Refuses query parameters that a route of the API or of a page does not read, or that are sent
twice: a misspelt filter would list everything, and the second of two values would silently win.
"""

import types
import typing
from collections.abc import Iterator
from typing import Any, Final

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.domain.errors import InvalidRequest, refused_value

EMPTY_QUERY_VALUES: Final = "empty_query_values"
"""Key of a request's state: the names of the query parameters that were sent without a value."""
MAPS: Final = ("metadata",)
"""Parameters that may also be sent as `name[key]=value`, which no declaration can list."""
_IGNORED: Final = frozenset({"api-version"})
"""Ignored parameters, which clients of other servers with the same API send with each call."""
_SHOWN: Final = 64


def check_query(request: Request) -> None:
    """Raises `InvalidRequest` for the first parameter that the route does not declare, or that has
    two values.
    """
    route = request.scope.get("route")
    empty: tuple[str, ...] = request.scope.get("state", {}).get(EMPTY_QUERY_VALUES, ())
    if not isinstance(route, APIRoute) or not (request.query_params or empty):
        return
    known = _declared(route)
    for name in (*request.query_params, *empty):
        if name not in known.keys() | _IGNORED and not _is_entry(name, known):
            shown = name[:_SHOWN]
            raise InvalidRequest(
                f"Unknown query parameter: '{shown}'.", param=shown, code="unknown_parameter"
            )
    for name in request.query_params:
        if len(request.query_params.getlist(name)) > 1 and not known.get(name, False):
            shown = name[:_SHOWN]
            raise refused_value(shown, "it was sent more than once")


def _declared(route: APIRoute) -> dict[str, bool]:
    """Returns the parameters of a route; True for one that may be repeated."""
    names = dict[str, bool]()
    for field in _parameters(route.dependant):
        info: FieldInfo = field.field_info
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            names.update(
                (name, _is_list(inner.annotation))
                for name, inner in info.annotation.model_fields.items()
            )
        else:
            names[field.alias] = _is_list(info.annotation)
    return names


def _parameters(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _parameters(inner)


def _is_list(annotation: Any) -> bool:
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return any(map(_is_list, typing.get_args(annotation)))
    return typing.get_origin(annotation) is list


def _is_entry(name: str, known: dict[str, bool]) -> bool:
    head, bracket, tail = name.partition("[")
    return head in MAPS and head in known and bool(bracket) and tail.endswith("]") and tail != "]"


def metadata_pairs(request: Request) -> dict[str, str] | None:
    """Returns the pairs of `metadata[key]=value` that a list is filtered by; `None` without any."""
    start = "metadata["
    pairs = {
        name[len(start) : -1]: value
        for name, value in request.query_params.multi_items()
        if name.startswith(start) and name.endswith("]")
    }
    return pairs or None
