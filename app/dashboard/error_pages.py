"""Answers as pages to requests outside of the API.

Promises: every reply outside of the API has the headers of pages, and no cache gives it to another
client; an error there is a page, also one of a path that does not exist or of a body that no route
has read, for a client that asks for a page, as browsers do. All others get the error as JSON: the
API, probes, and clients whose address is wrong.
"""

import json
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.dashboard.accepted import wants_page
from app.dashboard.pages import HEADERS
from app.dashboard.refusals import refusal_page

_API: Final = ("/v1/", "/healthz/", "/readyz/", "/openapi.json/")
_ERRORS: Final = 400
_JSON: Final = "application/json"
_VARIES: Final = "Accept, Authorization, HX-Request, Cookie"
"""Headers of a request that decide about its reply: no cache may give it to another."""


class ErrorPages:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or f"{scope['path']}/".startswith(_API):
            await self._app(scope, receive, send)
            return
        reply = _Reply(send, as_page=scope["method"] != "HEAD" and _asks_for_page(scope))
        await self._app(scope, receive, reply.send)


class _Reply:
    """One reply: passes through, or is kept until its error is known and becomes a page."""

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


def _asks_for_page(scope: Scope) -> bool:
    return wants_page(Headers(scope=scope))
