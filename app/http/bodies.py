"""Refuses bodies that are too large, too slow or not storable, before any route.

NUL, lone surrogates, numbers out of range and very deep nesting are not storable. Plain ASGI, so
that uploads and streams pass through unbuffered.
"""

import asyncio
import re
import unicodedata
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import python_multipart as multipart
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.files.files import IN_PARTS, MAX_FILE_BYTES, MAX_PART_BYTES
from app.http.error_replies import envelope
from app.http.requests import largest_form
from app.kit.errors import InvalidRequest, TooLarge, TooSlow, missing_parameter
from app.kit.faults import SIMILARITY, nearest_name, question, unknown_parameter
from app.kit.strict_json import MAX_JSON_BYTES, json_problem

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks


_FORM_BYTES: Final = 1024 * 1024
_MAX_FILE: Final = MAX_FILE_BYTES + _FORM_BYTES
UPLOAD_PATHS: Final = (
    (re.compile(r"/v1/files"), _MAX_FILE),
    (re.compile(r"/v1/uploads/[^/]+/parts"), MAX_PART_BYTES + _FORM_BYTES),
)
IDLE_S: Final = 60.0
JSON_DEADLINE_S: Final = 120.0
FORM_DEADLINE_S: Final = 20.0
"""Deadline of a whole form of a page. It is short, because the sender of a sign-in form is unknown.
"""
_SMALL_BODY_BYTES: Final = 64 * 1024
"""Largest body that the event loop checks itself, in under 3 ms; a thread checks larger ones."""
_MAX_LENGTH_DIGITS: Final = 15
_BODY_HEADERS: Final = frozenset({b"content-length", b"transfer-encoding", b"content-encoding"})


class BodyGuard:
    """Reads a form with a file on paths of uploads, a small form on those of `forms`, else JSON."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        forms: re.Pattern[str] | None = None,
        idle_s: float = IDLE_S,
        json_deadline_s: float = JSON_DEADLINE_S,
        form_deadline_s: float = FORM_DEADLINE_S,
    ) -> None:
        self._app, self._forms, self._idle_s = app, forms, idle_s
        self._json_deadline_s = json_deadline_s
        self._form_deadline_s = form_deadline_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            await envelope(400, "NUL is not allowed in a URL.")(scope, receive, send)
            return
        path, names = scope["path"], {name for name, _ in scope["headers"]}
        if scope["method"] in {"GET", "HEAD"} and not names & _BODY_HEADERS:
            await self._app(scope, receive, send)
            return
        is_form = self._forms is not None and self._forms.fullmatch(path) is not None
        upload_limit = next((most for known, most in UPLOAD_PATHS if known.fullmatch(path)), None)
        limit = largest_form(path) if is_form else upload_limit or MAX_JSON_BYTES
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
        try:
            async with asyncio.timeout(self._form_deadline_s if is_form else self._json_deadline_s):
                content = await _read_body(receive, limit)
        except TimeoutError:
            slow = "The body did not arrive in time."
            await envelope(408, slow, headers={"connection": "close"})(scope, receive, send)
            return
        except TooLarge:
            await _too_large(limit)(scope, receive, send)
            return
        if content is None:
            return
        problem = None
        if len(content) > _SMALL_BODY_BYTES and not is_form:
            problem = await asyncio.to_thread(json_problem, content)
        elif content and not is_form:
            problem = json_problem(content)
        if problem is not None:
            reply = envelope(400, f"The request body is not usable JSON: {problem}.")
            await reply(scope, receive, send)
            return
        await self._app(scope, replay_body(content, receive), send)


async def _read_body(receive: Receive, limit: int) -> bytes | None:
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
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


BLOCK_BYTES: Final = 1 << 20
MAX_FIELDS: Final = 16
MAX_FIELD_BYTES: Final = 64 * 1024
MAX_FILENAME: Final = 255
_MAX_DELIMITERS: Final = 64
_MAX_AROUND_BYTES: Final = 64 * 1024
_MAX_BOUNDARY: Final = 200
_EXTENDED_NAME: Final = re.compile(rb"filename\*\s*=\s*utf-8'[^']*'([^;\s]+)", re.IGNORECASE)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class StreamedForm:
    def __init__(self, request: Request, *, file: str) -> None:
        kind, options = parse_options_header(request.headers.get("content-type"))
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not 0 < len(boundary) <= _MAX_BOUNDARY:
            raise InvalidRequest("The body must be multipart/form-data with a boundary.")
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._part_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": lambda: setattr(self, "_ended", True),
        }
        self.fields: dict[str, str] = {}
        self.filename: str | None = None
        self._delimiter = b"--" + boundary
        self._parser = multipart.MultipartParser(boundary, callbacks)
        self._stream = request.stream()
        self._file = file
        self._delimiters = self._parts = self._around = 0
        self._in_file = self._ended = False
        self._header = self._value = b""
        self._disposition = b""
        self._field: tuple[str, bytearray] | None = None
        self._blocks: list[bytes] = []
        self._waiting = 0

    async def open(self) -> None:
        while self.filename is None:
            if not await self._advance():
                raise missing_parameter(self._file)

    def refuse_unknown(self, *known: str) -> None:
        """Raises `InvalidRequest` for a field that nothing reads; call it after the file."""
        for name in self.fields:
            if name not in known:
                near = nearest_name(name[:64], known, SIMILARITY)
                raise unknown_parameter(name[:64], question(near) or " Remove it.")

    async def blocks(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            while more and self._waiting < BLOCK_BYTES:
                more = await self._advance()
            if self._waiting:
                block = b"".join(self._blocks)
                self._blocks.clear()
                self._waiting = 0
                yield block

    async def _advance(self) -> bool:
        try:
            chunk = await anext(self._stream)
        except StopAsyncIteration:
            if not self._ended:
                raise InvalidRequest("The form breaks off before its end.") from None
            return False
        if self._ended:
            self._count_around(chunk)
            return True
        # The parser takes a Python step for each delimiter, real or not; this count takes none.
        self._delimiters += chunk.count(self._delimiter)
        if self._delimiters > _MAX_DELIMITERS:
            raise _too_many_parts()
        try:
            self._parser.write(chunk)
        except FormParserError:
            raise InvalidRequest("The body is not a readable multipart form.") from None
        if not self._parts:
            self._count_around(chunk)
        return True

    def _count_around(self, chunk: bytes) -> None:
        self._around += len(chunk)
        if self._around > _MAX_AROUND_BYTES:
            raise InvalidRequest("There are too many bytes before or after the form's parts.")

    def _part_begin(self) -> None:
        self._parts += 1
        self._around = 0  # part of this chunk belongs to the form
        if self._parts > MAX_FIELDS + 1:
            raise _too_many_parts()
        self._disposition, self._field, self._in_file = b"", None, False
        self._header = self._value = b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition.decode("latin-1"))
        name = _text(options.get(b"name", b""), "a field's name")
        if not name:
            raise InvalidRequest("A part of the form has no name.")
        if name in self.fields or (name == self._file and self.filename is not None):
            raise InvalidRequest("A field of the form occurs twice.", param=name[:64])
        if name == self._file:
            self._in_file = True
            self.filename = _plain_name(options.get(b"filename"), self._disposition)
        else:
            self._field = (name, bytearray())

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._blocks.append(data[start:end])
            self._waiting += end - start
        elif self._field is not None:
            name, value = self._field
            value += data[start:end]
            if len(value) > MAX_FIELD_BYTES:
                raise InvalidRequest("A field of the form is too long.", param=name[:64])

    def _part_end(self) -> None:
        if self._field is not None:
            name, value = self._field
            self.fields[name] = _text(bytes(value), name[:64])
        self._field, self._in_file = None, False


def plain_name(name: str) -> str:
    base = unicodedata.normalize("NFC", _UNPRINTABLE.sub("", re.split(r"[/\\]", name)[-1])).strip()
    if len(base) > MAX_FILENAME:
        raise InvalidRequest(f"A file name has at most {MAX_FILENAME} characters.", param="file")
    return base if base not in {"", ".", ".."} else "upload"


def _plain_name(plain: bytes | None, disposition: bytes) -> str:
    if plain is None:
        # RFC 7578 forbids `filename*`, and some clients send nothing else.
        extended = _EXTENDED_NAME.search(disposition)
        plain = b"" if extended is None else extended[1].replace(b"\\", b"_")
        return plain_name(unquote(plain.decode("latin-1"), errors="replace"))
    name = plain.decode("utf-8", errors="replace")
    # Browsers and both SDKs write a quote in a name as %22.
    return plain_name(name.replace("%22", '"'))


def _text(value: bytes, param: str) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise InvalidRequest("The form is not UTF-8.", param=param) from None
    if "\x00" in text:
        raise InvalidRequest("NUL is not allowed in a form.", param=param)
    return text


def _too_many_parts() -> InvalidRequest:
    return InvalidRequest(f"A form has at most {MAX_FIELDS} fields and one file.")
