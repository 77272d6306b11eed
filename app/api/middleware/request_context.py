"""The outermost layer of every request: its id, its timing, and the answer to an unhandled error.

Plain ASGI. Starlette answers an unhandled error outside of its own middleware, where no header is
added; here that answer has the request's id like any other.
"""

import time
from contextlib import ExitStack
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.support.errors import server_error
from app.api.support.request_state import HELD, REPLY_HEADERS

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
