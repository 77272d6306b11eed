"""Measures requests for Prometheus, where the operator has set a key to read the measurements.

Plain ASGI. `Measurement` is the outermost layer, so that refusals of other layers count;
`RouteRecorder` is the innermost, because the router names the route in the scope that it gets.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.support.measurements import Measurements
from app.api.support.request_state import ROUTED


class Measurement:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        measurements: Measurements | None = None
        if scope["type"] == "http":
            measurements = scope["app"].state.measurements
        if measurements is None:
            await self._app(scope, receive, send)
            return
        with measurements.request(scope) as answer:

            async def send_measured(message: Message) -> None:
                if message["type"] == "http.response.start":
                    answer.status = message["status"]
                await send(message)

            await self._app(scope, receive, send_measured)


class RouteRecorder:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                scope["state"][ROUTED] = scope.get("route")
