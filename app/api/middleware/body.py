"""Refuses bodies that are too large, too slow or not storable, before any route.

NUL, lone surrogates, numbers out of range and very deep nesting are not storable. Plain ASGI, so
that uploads and streams pass through unbuffered.
"""

import asyncio
import re
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.support.errors import envelope
from app.domain.data.files import IN_PARTS, MAX_FILE_BYTES
from app.domain.data.uploads import MAX_PART_BYTES
from app.domain.errors import TooLarge, TooSlow
from app.domain.texts.request_bodies import MAX_JSON_BYTES, json_problem
from app.web.forms import largest_form

_FORM_BYTES: Final = 1024 * 1024
_MAX_FILE: Final = MAX_FILE_BYTES + _FORM_BYTES
UPLOAD_PATHS: Final = (
    (re.compile(r"/v1/files"), _MAX_FILE),
    (re.compile(r"/v1/uploads/[^/]+/parts"), MAX_PART_BYTES + _FORM_BYTES),
)
"""Paths of forms with a file, and the largest body of each in bytes."""
IDLE_S: Final = 60.0
JSON_DEADLINE_S: Final = 120.0
FORM_DEADLINE_S: Final = 20.0
"""Deadline of a whole form of a page. It is short, because the sender of a sign-in form is unknown.
"""
_SMALL_BODY_BYTES: Final = 64 * 1024
"""Largest body that the event loop checks itself, in under 3 ms; a thread checks larger ones."""
_MAX_LENGTH_DIGITS: Final = 15
_READS: Final = frozenset({"GET", "HEAD"})
_BODY_HEADERS: Final = frozenset({b"content-length", b"transfer-encoding", b"content-encoding"})


class BodyGuard:
    """Refuses bodies and paths that the service cannot store. Its memory is bounded.

    For any content type, a body is a form with a file on the paths of uploads, a small form on
    paths that `forms` matches, and JSON on every other path.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        forms: re.Pattern[str] | None = None,
        idle_s: float = IDLE_S,
        json_deadline_s: float = JSON_DEADLINE_S,
        form_deadline_s: float = FORM_DEADLINE_S,
    ) -> None:
        self._app = app
        self._forms = forms
        self._idle_s = idle_s
        self._json_deadline_s = json_deadline_s
        self._form_deadline_s = form_deadline_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            await envelope(400, "NUL is not allowed in a URL.")(scope, receive, send)
            return
        if _reads_without_body(scope):
            await self._app(scope, receive, send)
            return
        is_form = self._forms is not None and self._forms.fullmatch(scope["path"]) is not None
        upload_limit = _upload_limit(scope["path"])
        limit = largest_form(scope["path"]) if is_form else upload_limit or MAX_JSON_BYTES
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            await envelope(400, "Content-Length is not a number.")(scope, receive, send)
        elif len(length) > _MAX_LENGTH_DIGITS or int(length) > limit:
            await _too_large(limit)(scope, receive, send)
        elif headers.get("content-encoding", "identity") != "identity":
            await envelope(400, "A request body must not be compressed.")(scope, receive, send)
        elif upload_limit is not None:
            await self._app(scope, _counted(receive, limit, self._idle_s), send)
        else:
            await self._whole(scope, receive, send, limit=limit, is_form=is_form)

    async def _whole(
        self, scope: Scope, receive: Receive, send: Send, *, limit: int, is_form: bool
    ) -> None:
        """Reads the whole body within the deadline; passes on a body that is not JSON only for a
        form.
        """
        try:
            async with asyncio.timeout(self._form_deadline_s if is_form else self._json_deadline_s):
                content = await _read_body(receive, limit)
        except TimeoutError:
            await _too_slow()(scope, receive, send)
            return
        except TooLarge:
            await _too_large(limit)(scope, receive, send)
            return
        if content is None:
            return
        problem = None if is_form else await _problem(content)
        if problem is not None:
            reply = envelope(400, f"The request body is not usable JSON: {problem}.")
            await reply(scope, receive, send)
            return
        await self._app(scope, replay_body(content, receive), send)


def _reads_without_body(scope: Scope) -> bool:
    """Returns True for a request whose method and headers promise that there is no body."""
    return scope["method"] in _READS and not any(
        name in _BODY_HEADERS for name, _ in scope["headers"]
    )


def _upload_limit(path: str) -> int | None:
    """Returns the largest upload that a path takes, `None` for a path of another body."""
    return next((limit for known, limit in UPLOAD_PATHS if known.fullmatch(path)), None)


async def _problem(content: bytes) -> str | None:
    """Returns the reason why a body cannot be served as JSON, or `None`."""
    if len(content) > _SMALL_BODY_BYTES:
        return await asyncio.to_thread(json_problem, content)
    return json_problem(content) if content else None


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """Returns the body, or `None` when the client hung up. Raises `TooLarge`."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit:
            raise TooLarge(f"The body is larger than {limit} bytes.")
    return bytes(body)


def _too_slow() -> Any:
    return envelope(408, "The body did not arrive in time.", headers={"connection": "close"})


def _too_large(limit: int) -> Any:
    parts = f" {IN_PARTS}" if limit == _MAX_FILE else ""
    message = f"The body is larger than {limit} bytes.{parts}"
    return envelope(413, message, code=TooLarge.default_code)


def _counted(receive: Receive, limit: int, idle_s: float) -> Receive:
    received, ended = 0, False

    async def counted() -> Message:
        nonlocal received, ended
        if ended:  # the caller now waits for the client to hang up
            return await receive()
        try:
            async with asyncio.timeout(idle_s):
                message = await receive()
        except TimeoutError:
            raise TooSlow("The body did not arrive in time.") from None
        ended = not message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > limit:
            raise TooLarge(f"The body is larger than {limit} bytes.")
        return message

    return counted


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that delivers a body which was read already, and then what follows it."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
