"""Replies to errors, with the path to call instead of one that is not served."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match, Route

from app.kit.errors import (
    IdempotencyKeyInUse,
    QuotaExceeded,
    RangeNotSatisfiable,
    RateLimited,
    RequestError,
)
from app.kit.faults import broken_rule
from app.kit.http import HttpResponse, RepeatedRequest
from app.kit.schemas import ErrorEnvelope, refusals

_NOT_SERVED: Final = {"responses": "Responses API", "completions": "legacy Completions API"}


class PathHints:
    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        """`routes`: the application's routes, to which it may add until its first request."""
        self._routes = routes

    def unserved(self, method: str, path: str) -> str:
        parts = path.strip("/").split("/")
        missing = _NOT_SERVED.get(parts[1]) if len(parts) > 1 and parts[0] == "v1" else None
        if missing is None:
            return self.alike(method, path)
        return f": this service has no {missing}; use POST /v1/chat/completions."

    def alike(self, method: str, path: str) -> str:
        called = path.strip("/")
        end = called.removeprefix("v1/").removeprefix("fine_tuning/")
        same_word = self._by_last_word.get((method, _last_word(end)), ())
        served = [each for each in same_word if each.endswith(f"/{end}")]
        if not served or f"/{called}" in served:
            return ""
        return f". Did you mean {method} {served[0]}?"

    @cached_property
    def _by_last_word(self) -> dict[tuple[str, str], list[str]]:
        paths: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for route in _with_path(self._routes):
            word = _last_word(route.path)
            if word and not word.startswith("{"):
                for method in route.methods or ():
                    paths[method, word].append(route.path)
        return dict(paths)


def _with_path(routes: Iterable[BaseRoute]) -> Iterator[Route]:
    """FastAPI's `iter_route_contexts` yields them, too, but first resolves all dependencies, which
    holds the event loop for half a second.
    """
    for route in routes:
        included = getattr(route, "original_router", None)
        if isinstance(route, Route):
            yield route
        elif isinstance(included, APIRouter):
            yield from _with_path(included.routes)


def _last_word(path: str) -> str:
    return path.rpartition("/")[2]


RETRY_AFTER_S = "2"
_OF_A_WRONG_PATH = frozenset([400, 404])
"""Statuses that a route answers when it has matched a literal part of the path as an id."""

_DESCRIPTIONS = {
    400: "The request is malformed, or the object is in the wrong state for it.",
    401: "No valid API key was sent.",
    403: "The key may not do this.",
    404: "No such object in this project.",
    413: "The body is too large.",
    416: "The content has no such part.",
    429: "Too many requests, or a quota is used up.",
    503: "A part of the service is not available at the moment; retry.",
}


def responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Returns the documented errors. With a default, FastAPI does not add 422."""
    documented: dict[int | str, dict[str, Any]] = {
        code: {"model": ErrorEnvelope, "description": _DESCRIPTIONS[code]}
        for code in sorted({400, 401, 403, 413, 429, 503, *codes})
    }
    documented["default"] = {"model": ErrorEnvelope, "description": "Any other error."}
    return documented


def unavailable() -> dict[int | str, dict[str, Any]]:
    return {503: {"model": ErrorEnvelope, "description": _DESCRIPTIONS[503]}}


def envelope(
    status_code: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status_code=status_code, headers=headers)


async def _request_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestError):
        raise error
    is_of_path = error.status_code in _OF_A_WRONG_PATH
    alike = _hints(request).alike(request.method, request.scope["path"]) if is_of_path else ""
    return error_reply(error, hint=alike)


def _hints(request: Request) -> PathHints:
    hints: PathHints = request.app.state.path_hints
    return hints


def error_reply(error: RequestError, *, hint: str = "") -> JSONResponse:
    headers: dict[str, str] | None = None
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        headers = {
            "retry-after": str(math.ceil(error.retry_after_s)),
            "retry-after-ms": str(math.ceil(1000 * error.retry_after_s)),
        }
    elif isinstance(error, QuotaExceeded):
        headers = {"x-should-retry": "false"}
    elif error.status_code in {429, 503}:
        headers = {"retry-after": RETRY_AFTER_S}
    elif isinstance(error, RangeNotSatisfiable):
        headers = {"content-range": f"bytes */{error.size}"}
    elif isinstance(error, IdempotencyKeyInUse):
        headers = {"retry-after": "1", "x-should-retry": "true"}
    return envelope(
        error.status_code,
        f"{error.message.removesuffix('.')}{hint}" if hint else error.message,
        kind=error.type,
        param=error.param,
        code=error.code,
        headers=headers,
    )


async def _answered_before(_: Request, error: Exception) -> Response:
    if not isinstance(error, RepeatedRequest):
        raise error
    return replay(error.response)


def replay(response: HttpResponse) -> Response:
    return Response(
        response.body,
        status_code=response.status,
        headers={"content-type": response.content_type, "idempotent-replayed": "true"},
    )


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = error.errors()
    source, *rest = faults[0]["loc"]
    if source == "body" and not rest:
        rule = broken_rule(faults[0])
        if rule is None:
            return envelope(400, "The request body must be a JSON object (application/json).")
        return envelope(400, f"Invalid request body: {rule}.", code="invalid_value")
    # The source is not part of a path; it names the whole of a query that is one object.
    within: list[Any] = [{**fault, "loc": fault["loc"][1:] or (source,)} for fault in faults]
    return await _request_error(request, next(refusals("", within)))


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    method, path = request.method, request.scope["path"]
    message, headers = str(error.detail), error.headers
    if error.status_code == HTTPStatus.NOT_FOUND:
        message = f"Invalid URL ({method} {path}){_hints(request).unserved(method, path)}"
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"Not allowed to {method} on {path}{_hints(request).alike(method, path)}"
        headers = {"allow": _allowed(request)}
    return envelope(error.status_code, message, headers=headers)


def _allowed(request: Request) -> str:
    """Returns all methods of the path; the router reports those of one route only."""
    scope = {key: request.scope[key] for key in ("type", "path", "root_path", "headers")}
    allowed = {
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        for route in request.app.routes
        if route.matches({**scope, "method": method})[0] is Match.FULL
    }
    return ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))


async def _client_gone(_: Request, __: Exception) -> JSONResponse:
    return envelope(400, "The client hung up.")


def server_error() -> JSONResponse:
    return envelope(
        500,
        "The server had an error while processing your request.",
        kind="server_error",
        code="internal_error",
    )


def install(app: FastAPI) -> None:
    app.state.path_hints = PathHints(app.routes)
    app.add_exception_handler(RequestError, _request_error)
    app.add_exception_handler(RepeatedRequest, _answered_before)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_gone)
