"""A browser that hangs up while the service works on its form."""

import asyncio

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.support.dashboard.visits import Visit


class HangUp:
    """Passes requests on; once `now` is set, the sender of each has hung up."""

    def __init__(self, app: ASGIApp) -> None:
        self.now = asyncio.Event()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_whole = False

        async def receive_or_hang_up() -> Message:
            nonlocal is_whole
            if not is_whole:
                message = await receive()
                is_whole = not message.get("more_body", False)
                return message
            await self.now.wait()
            return {"type": "http.disconnect"}

        await self._app(scope, receive_or_hang_up, send)


def hang_up_of(visit: Visit) -> HangUp:
    """Returns the switch with which this visit hangs up from now on."""
    transport = visit.http._transport
    assert isinstance(transport, httpx.ASGITransport)
    switch = HangUp(transport.app)
    visit.http._transport = httpx.ASGITransport(app=switch, raise_app_exceptions=False)
    return switch
