"""Answers HEAD wherever GET is answered: with the headers of GET, and without its body.

Plain ASGI. A route sees a GET and is cancelled once its headers are known, so that a download is
not read for nothing.
"""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
