"""Path parameters that take any text: `{name:text}`."""

import asyncio
import types
import typing
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, Final, TypeVar

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect
from typing_extensions import override

from app.kit.errors import InvalidRequest, refused_value


class _Text(Convertor[str]):
    """Reads the rest of a path, line breaks and slashes included; `path` stops at a line break."""

    regex = r"[\s\S]+"

    @override
    def convert(self, value: str) -> str:
        return value

    @override
    def to_string(self, value: str) -> str:
        return value


def register_path_texts() -> None:
    """Makes `{name:text}` known to the routes that are declared after this call."""
    register_url_convertor("text", _Text())


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


Result = TypeVar("Result")


async def unless_client_hangs_up(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the result of `work`. Cancels it and raises `ClientDisconnect` when the client hangs
    up.

    The request's body must have been read, because the next message is then the disconnect.
    """
    task, hung_up = asyncio.ensure_future(work), asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((task, hung_up), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for future in (task, hung_up):
            future.cancel()
        await asyncio.gather(task, hung_up, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


LONGEST_TEXT: Final = 10_000
"""Characters of a prompt or of an answer."""
LONGEST_ROW: Final = 4_000
"""Characters of a row of a file, as JSON."""
_ENCODED: Final = 9
"""Bytes of the longest character as a browser sends it: `%E2%82%AC`."""
_OTHERS: Final = 4096
"""Bytes of all other fields together, and of the names."""
MAX_FORM_BYTES: Final = _ENCODED * (LONGEST_TEXT + LONGEST_ROW) + _OTHERS
"""Largest form of a page: one that its fields allow always fits."""
_MAX_SIGN_IN_BYTES: Final = 16_384
EXAMPLES_PATH: Final = "/teach/examples"
MAX_EXAMPLES_BYTES: Final = 8 * 1024 * 1024
"""Largest form with examples: a file, or what was typed and pasted."""


def largest_form(path: str) -> int:
    """Returns the limit of a form in bytes. Anyone may send the one of the sign-in page, which has
    nothing but a key; the one of examples has a file.
    """
    limits = {"/sign-in": _MAX_SIGN_IN_BYTES, EXAMPLES_PATH: MAX_EXAMPLES_BYTES}
    return limits.get(path, MAX_FORM_BYTES)


def text_of(form: Mapping[str, str], name: str, *, longest: int) -> str:
    """Returns a text of a form, with the line breaks that its writer saw; browsers send others.
    Raises `InvalidRequest` for one that is longer than its field.
    """
    text = form.get(name, "").replace("\r\n", "\n")
    if len(text) > longest:
        raise InvalidRequest(
            f"'{name}' has {len(text):,} characters; at most {longest:,} are read.", param=name
        )
    return text
