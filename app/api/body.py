"""Guards in front of every route: request id, timing headers, body size, and JSON that Postgres and
Python could not hold (NUL, lone surrogates, NaN, endless nesting).

Plain ASGI, so that streams pass through unbuffered.
"""

import json
import time
from typing import Any
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import envelope
from app.domain.errors import TooLarge

MAX_JSON_BYTES = 4 * 1024 * 1024
MAX_UPLOAD_BYTES = 513 * 1024 * 1024
UPLOAD_PATHS = frozenset({"/v1/files"})
MAX_DEPTH = 100


class RequestContext:
    """Gives each request an id, in the reply's `x-request-id` and in every log line."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, started = f"req_{uuid4().hex}", time.perf_counter()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                elapsed_ms = 1000 * (time.perf_counter() - started)
                headers["openai-processing-ms"] = str(round(elapsed_ms))
                headers["openai-version"] = "2020-10-01"
            await send(message)

        await self._app(scope, receive, send_with_headers)


class BodyGuard:
    """Refuses bodies and paths nothing behind it could store; bounded in memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            await envelope(400, "NUL is not allowed in a URL.")(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = MAX_UPLOAD_BYTES if scope["path"] in UPLOAD_PATHS else MAX_JSON_BYTES
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            await _too_large(limit)(scope, receive, send)
            return
        if headers.get("content-type", "").split(";")[0].strip().lower() == "application/json":
            await self._json(scope, receive, send)
        else:
            await self._app(scope, _counted(receive, limit), send)

    async def _json(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MAX_JSON_BYTES:
                await _too_large(MAX_JSON_BYTES)(scope, receive, send)
                return
        problem = json_problem(bytes(body)) if body else None
        if problem is not None:
            reply = envelope(400, f"The request body is not usable JSON: {problem}.")
            await reply(scope, receive, send)
            return
        await self._app(scope, _replayed(bytes(body), receive), send)


def json_problem(body: bytes) -> str | None:
    """Why this JSON cannot be served, or `None`."""
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
        _walk(value, MAX_DEPTH)
    except RecursionError:
        return f"it is nested deeper than {MAX_DEPTH} levels"
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except ValueError as error:
        return str(error)
    return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _walk(value: Any, depth: int) -> None:
    if depth == 0:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key)
            _walk(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _walk(inner, depth - 1)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise ValueError("it holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("it holds a lone surrogate")


def _too_large(limit: int) -> Any:
    return envelope(413, f"The body is larger than {limit} bytes.", code=TooLarge.default_code)


def _counted(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge(f"The body is larger than {limit} bytes.")
        return message

    return counted


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replayed() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
