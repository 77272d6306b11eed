"""Renders errors outside of the API as pages.

A client that accepts pages, as browsers do, gets each error as a page, also for an unknown path or
a body that no route has read. All others get the error as JSON: the API, probes, and clients with a
wrong address.
"""

import json
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.pages.refusals import refusal_page
from app.pages.rendering import HEADERS, wants_page

_API: Final = ("/v1/", "/healthz/", "/readyz/", "/openapi.json/")
_ERRORS: Final = 400
_JSON: Final = "application/json"
_VARIES: Final = "Accept, Authorization, HX-Request, Cookie"
"""Request headers on which the reply depends, so that no cache may reuse it."""


class ErrorPages:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or f"{scope['path']}/".startswith(_API):
            await self._app(scope, receive, send)
            return
        reply = _Reply(send, as_page=scope["method"] != "HEAD" and _accepts_page(scope))
        await self._app(scope, receive, reply.send)


class _Reply:
    """One reply: passes through, or is buffered until its error is known and rendered as a page."""

    def __init__(self, send: Send, *, as_page: bool) -> None:
        self._send = send
        self._as_page = as_page
        self._kept: Message | None = None
        self._body = bytearray()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
            headers.add_vary_header(_VARIES)
            is_error = message["status"] >= _ERRORS and headers.get("content-type") == _JSON
            if is_error and self._as_page:
                self._kept = message
                return
        if self._kept is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            await self._send_page(self._kept)

    async def _send_page(self, start: Message) -> None:
        page = refusal_page(start["status"], _message(bytes(self._body)))
        MutableHeaders(scope=start).update(page.headers)
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page.body})


def _message(envelope: bytes) -> str:
    error: dict[str, Any] = json.loads(envelope)["error"]
    return str(error["message"])


def _accepts_page(scope: Scope) -> bool:
    return wants_page(Headers(scope=scope))
