"""One renderer: every error of the API leaves in the hosted envelope with a request id."""

from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.api.schemas.common import ErrorEnvelope
from app.api.schemas.fine_tuning_jobs import dotted
from app.domain.errors import RequestError

log = structlog.get_logger()

RETRY_AFTER_S = "2"
_DESCRIPTIONS = {
    400: "The request is malformed, or the object is in the wrong state for it.",
    401: "No valid API key was sent.",
    403: "The key may not do this.",
    404: "No such object in this project.",
    413: "The body is too large.",
    429: "Too many requests.",
    503: "A part of the service is away for a moment; retry.",
}


def responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Documented error replies of a route; 400, 401 and 503 belong to every one."""
    return {
        code: {"model": ErrorEnvelope, "description": _DESCRIPTIONS[code]}
        for code in sorted({400, 401, 403, 413, 503, *codes})
    }


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


async def _request_error(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestError):
        raise error
    headers = {"retry-after": RETRY_AFTER_S} if error.status_code in {429, 503} else None
    return envelope(
        error.status_code,
        error.message,
        kind=error.type,
        param=error.param,
        code=error.code,
        headers=headers,
    )


async def _validation_error(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    fault = error.errors()[0]
    source, *rest = fault["loc"]
    param = dotted("", tuple(rest)) or (str(source) if source != "body" else None)
    if fault["type"] == "missing":
        message, code = f"Missing required parameter: '{param}'.", "missing_required_parameter"
    else:
        message, code = f"Invalid value for '{param}': {fault['msg']}.", "invalid_value"
    return envelope(400, message, param=param, code=code)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    messages = {
        404: f"Invalid URL ({request.method} {request.scope['path']})",
        405: f"Not allowed to {request.method} on {request.scope['path']}",
    }
    message = messages.get(error.status_code, str(error.detail))
    return envelope(error.status_code, message, headers=error.headers)


async def _server_error(request: Request, error: Exception) -> JSONResponse:
    log.error("request failed", path=request.scope["path"], error=repr(error), exc_info=error)
    return envelope(
        500,
        "The server had an error while processing your request.",
        kind="server_error",
        code="internal_error",
    )


def install(app: FastAPI) -> None:
    app.add_exception_handler(RequestError, _request_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _server_error)
