"""Requests with an `Idempotency-Key`: the middleware, and the check of forms with a file."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from app.accounts.callers import check_caller
from app.http.bodies import replay_body
from app.http.error_replies import error_reply, replay
from app.http.requests import PRINCIPAL, STORED_RESPONSE, Middleware
from app.kit.callers import Principal
from app.kit.errors import AuthenticationFailed, RequestError
from app.kit.http import (
    HttpResponse,
    RepeatedRequest,
    check_key,
    fingerprint_of_form,
    fingerprint_of_json,
)
from app.wiring import ProcessContext


def request_target(scope: Scope) -> str:
    return f"{scope['path']}?{scope['query_string'].decode('latin-1')}"


def idempotency_check(
    request: Request, described: Callable[[], dict[str, str]]
) -> Callable[[str], Awaitable[None]]:
    """Checks a form by the file's SHA-256, before any row is written. Raises `RepeatedRequest`.
    `described` returns the other fields, which may follow the file.
    """

    async def check(sha256: str) -> None:
        guarded = request.scope.get("state", {}).get(STORED_RESPONSE)
        if guarded is not None:
            target = request_target(request.scope)
            await guarded.begin(fingerprint_of_form("POST", target, described(), sha256))

    return check


_FORMS: Final = re.compile(r"/v1/files|/v1/uploads/[^/]+/parts")
_WITHOUT_ROWS: Final = re.compile(
    r"/v1/chat/completions"
    r"|/v1/fine_tuning/alpha/.*"
    r"|/v1/fine_tuning/jobs/validate"
    r"|/v1/uploads/[^/]+/complete"
    r"|/v1/curricula/preview"
    r"|/v1/(tools|graders|curricula|webhook_endpoints)/[^/]+/test"
)
"""Paths whose requests may wait minutes, so that they run without a transaction: a second execution
creates no duplicate.
"""


class Idempotency(Middleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        # The forms of the dashboard have tokens instead.
        takes_key = is_post and scope["path"].startswith("/v1/")
        key = Headers(scope=scope).get("idempotency-key") if takes_key else None
        if key is None:
            await self._app(scope, receive, send)
            return
        try:
            await self._serve(scope, receive, send, check_key(key))
        except RequestError as error:
            await error_reply(error)(scope, receive, send)
        except RepeatedRequest as before:
            await replay(before.response)(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, key: str) -> None:
        context: ProcessContext = scope["app"].state.context
        principal = await _principal(context, Headers(scope=scope))
        if principal is None:  # the route refuses the credentials
            await self._app(scope, receive, send)
            return
        # A replay counts against the rate limit, too. The check comes before a
        # connection is occupied, because it may need another one to look up the key.
        await check_caller(Request(scope), context, principal)
        scope["state"][PRINCIPAL] = principal
        service, captured = context.idempotency(), ResponseBuffer()
        if _FORMS.fullmatch(scope["path"]):
            async with service.guarded(principal, key) as request:
                scope.setdefault("state", {})[STORED_RESPONSE] = request
                await self._app(scope, receive, captured)
                await request.store(captured.response)
            await captured.leave(send)
            return
        # The body arrives as one message, because the body guard has read all of it.
        body: bytes = (await receive()).get("body", b"")
        again = replay_body(body, receive)
        if _streams(scope["path"], body):
            await self._app(scope, again, send)
            return
        fingerprint = fingerprint_of_json("POST", request_target(scope), body)
        if _WITHOUT_ROWS.fullmatch(scope["path"]):
            await service.mark(principal, key, fingerprint)
            try:
                await self._app(scope, again, captured)
            finally:
                await service.settle(principal, key, fingerprint, captured.complete_response)
        else:
            async with service.guarded(principal, key) as request:
                await request.begin(fingerprint)
                await self._app(scope, again, captured)
                await request.store(captured.response)
        await captured.leave(send)


class ResponseBuffer:
    def __init__(self) -> None:
        self._messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self._messages.append(message)

    @property
    def response(self) -> HttpResponse:
        start = self._messages[0]
        headers = Headers(raw=start["headers"])
        body = b"".join(message.get("body", b"") for message in self._messages[1:])
        return HttpResponse(start["status"], headers.get("content-type", ""), body)

    @property
    def complete_response(self) -> HttpResponse | None:
        ended = bool(self._messages) and not self._messages[-1].get("more_body", False)
        return self.response if ended and len(self._messages) > 1 else None

    async def leave(self, send: Send) -> None:
        for message in self._messages:
            await send(message)


async def _principal(context: ProcessContext, headers: Headers) -> Principal | None:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    try:
        return await context.keys.authenticate(value)
    except AuthenticationFailed:
        return None


def _streams(path: str, body: bytes) -> bool:
    """Returns True for a request of a stream, whose response is not stored: its length is open."""
    if path != "/v1/chat/completions" or b'"stream"' not in body:
        return False
    content = json.loads(body)
    return isinstance(content, dict) and bool(content.get("stream"))
