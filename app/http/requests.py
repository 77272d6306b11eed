"""A request passes middleware, checks of its query and limits of forms before its route."""

import asyncio
import re
import time
import types
import typing
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final, TypeVar
from urllib.parse import unquote_plus
from uuid import uuid4

import structlog
from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from app.http.error_replies import server_error
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
_ENTRY: Final = re.compile(r"([^\[]*)\[.+\]", re.DOTALL)
_IGNORED: Final = frozenset({"api-version"})
"""Ignored parameters, which clients of other servers with the same API send with each call."""
_SHOWN: Final = 64


def check_query(request: Request) -> None:
    route = request.scope.get("route")
    empty: tuple[str, ...] = request.scope.get("state", {}).get(EMPTY_QUERY_VALUES, ())
    if not isinstance(route, APIRoute) or not (request.query_params or empty):
        return
    known = _declared(route)
    for name in (*request.query_params, *empty):
        entry = _ENTRY.fullmatch(name)
        is_entry = entry is not None and entry[1] in MAPS and entry[1] in known
        if name not in known.keys() | _IGNORED and not is_entry:
            shown = name[:_SHOWN]
            raise InvalidRequest(
                f"Unknown query parameter: '{shown}'.", param=shown, code="unknown_parameter"
            )
    for name in request.query_params:
        if len(request.query_params.getlist(name)) > 1 and not known.get(name, False):
            shown = name[:_SHOWN]
            raise refused_value(shown, "it was sent more than once")


def _declared(route: APIRoute) -> dict[str, bool]:
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


def metadata_pairs(request: Request) -> dict[str, str] | None:
    start = "metadata["
    pairs = {
        name[len(start) : -1]: value
        for name, value in request.query_params.multi_items()
        if name.startswith(start) and name.endswith("]")
    }
    return pairs or None


Result = TypeVar("Result")


async def unless_client_hangs_up(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Cancels `work` and raises `ClientDisconnect` on a hang-up. The body must have been read."""

    async def hang_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, hung_up = asyncio.ensure_future(work), asyncio.ensure_future(hang_up())
    try:
        await asyncio.wait((task, hung_up), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for future in (task, hung_up):
            future.cancel()
        await asyncio.gather(task, hung_up, return_exceptions=True)


LONGEST_TEXT: Final = 10_000
LONGEST_ROW: Final = 4_000
_ENCODED: Final = 9
"""Bytes of the longest character as a browser sends it: `%E2%82%AC`."""
_OTHERS: Final = 4096
"""Bytes of all other fields together, and of the names."""
MAX_FORM_BYTES: Final = _ENCODED * 2 * LONGEST_TEXT + _OTHERS
"""Largest form of a page: one that its fields allow always fits."""
_MAX_SIGN_IN_BYTES: Final = 16_384
EXAMPLES_PATH: Final = "/teach/examples"
MAX_EXAMPLES_BYTES: Final = 8 * 1024 * 1024


def largest_form(path: str) -> int:
    """Returns the limit in bytes. Anyone may send the form of the sign-in page."""
    limits = {"/sign-in": _MAX_SIGN_IN_BYTES, EXAMPLES_PATH: MAX_EXAMPLES_BYTES}
    return limits.get(path, MAX_FORM_BYTES)


def text_of(form: Mapping[str, str], name: str, *, longest: int) -> str:
    text = form.get(name, "").replace("\r\n", "\n")
    if len(text) > longest:
        raise InvalidRequest(
            f"'{name}' has {len(text):,} characters; at most {longest:,} are read.", param=name
        )
    return text


REPLY_HEADERS: Final = "reply_headers"
HELD: Final = "held"
"""An `ExitStack` of what the request holds until its reply is sent or its client is gone."""
PRINCIPAL: Final = "principal"
STORED_RESPONSE: Final = "idempotency"
ROUTED: Final = "routed"

log = structlog.get_logger()


class Middleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app


class RequestContext(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, began, started = f"req_{uuid4().hex}", time.perf_counter(), False
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        added: dict[str, str] = {}
        scope.setdefault("state", {})[REPLY_HEADERS] = added

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                milliseconds = round(1000 * (time.perf_counter() - began))
                added["x-request-id"] = request_id
                added["openai-processing-ms"] = str(milliseconds)
                added["openai-version"] = "2020-10-01"
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode("latin-1")) for name, value in added.items()),
                ]
            await send(message)

        try:
            with ExitStack() as held:
                scope["state"][HELD] = held
                await self._app(scope, receive, send_with_headers)
        except Exception:  # the request is the boundary: the service outlives one fault
            log.exception("request failed", method=scope["method"], path=scope["path"])
            if started:  # the reply has begun; a cut connection shows that it is incomplete
                raise
            await server_error()(scope, receive, send_with_headers)


class Head(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        headers: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        async def send_headers(message: Message) -> None:
            if message["type"] == "http.response.start" and not headers.done():
                headers.set_result(message)

        answer = asyncio.ensure_future(self._app({**scope, "method": "GET"}, receive, send_headers))
        try:
            await asyncio.wait((answer, headers), return_when=asyncio.FIRST_COMPLETED)
            if not headers.done():
                answer.result()  # raises the fault that ended the route without an answer
                return
            await send(headers.result())
            await send({"type": "http.response.body", "body": b""})
        finally:
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)


_BRACKETS: Final = re.compile(rb"(^|&)([^=&]+?)(?:\[\]|%5B%5D)(?==)", re.IGNORECASE)


class BracketedLists(APIRoute):
    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def with_plain_names(request: Request) -> Response:
            query = _BRACKETS.sub(rb"\1\2", request.scope["query_string"])
            return await handle(Request({**request.scope, "query_string": query}, request.receive))

        return with_plain_names


class EmptyQueryValues(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        if is_read and scope["query_string"]:
            sent = scope["query_string"].split(b"&")
            named = {part: _empty_name(part) for part in sent}
            scope.setdefault("state", {})[EMPTY_QUERY_VALUES] = tuple(filter(None, named.values()))
            scope = {**scope, "query_string": b"&".join(p for p in sent if named[p] is None)}
        await self._app(scope, receive, send)


def _empty_name(part: bytes) -> str | None:
    name, _, value = part.partition(b"=")
    decoded = unquote_plus(name.decode("latin-1"))
    is_of_a_map = decoded.endswith("]") and decoded.partition("[")[0] in MAPS
    return None if value or is_of_a_map else decoded
