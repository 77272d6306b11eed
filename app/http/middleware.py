"""Middleware of the API, and the keys of a request's state in which it passes on values."""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, Final
from urllib.parse import unquote_plus
from uuid import uuid4

import structlog
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from app.http.error_replies import server_error
from app.http.requests import EMPTY_QUERY_VALUES, MAPS

REPLY_HEADERS: Final = "reply_headers"
"""Headers of the reply, in success and failure."""
HELD: Final = "held"
"""An `ExitStack` of the resources that the request (a stream included) holds until its reply is
sent or its client has disconnected.
"""
PRINCIPAL: Final = "principal"
"""The principal, when the caller was checked before the route."""
STORED_RESPONSE: Final = "idempotency"
"""The guard of the request's `Idempotency-Key`, on routes that take a form."""
ROUTED: Final = "routed"
"""The route that answered, once it has."""


log = structlog.get_logger()


class RequestContext:
    """Gives each request an id, in the reply's `x-request-id` and in every log line."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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


_HEAD: Final = "HEAD"


class Head:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != _HEAD:
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
