"""Counts requests for Prometheus, where the operator has set a key to read the metrics.

Plain ASGI. `RequestCounter` is the outermost layer, so that refusals of other layers count;
`RouteRecorder` is the innermost, because the router names the route in the scope that it gets.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.support.process_metrics import ProcessMetrics
from app.api.support.request_state import ROUTED


class RequestCounter:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics: ProcessMetrics | None = None
        if scope["type"] == "http":
            metrics = scope["app"].state.process_metrics
        if metrics is None:
            await self._app(scope, receive, send)
            return
        with metrics.request(scope) as answer:

            async def send_counted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    answer.status = message["status"]
                await send(message)

            await self._app(scope, receive, send_counted)


class RouteRecorder:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                scope["state"][ROUTED] = scope.get("route")
