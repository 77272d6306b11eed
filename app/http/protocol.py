"""The HTTP protocol of the server: uvicorn's, with limits on slow readers and endless headers.

Importing it loads uvicorn, so the application itself does not.
"""

import asyncio
import fcntl
import json
import socket
import struct
import sys
import termios
from http import HTTPStatus
from typing import ClassVar, Final
from uuid import uuid4

import structlog
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.kit.http import END_STREAM

log = structlog.get_logger()

CHECKS: Final = 12
"""Checks without progress after which the connection ends; so many fill the deadline."""
_RESET: Final = struct.pack("ii", 1, 0)
"""Value of `SO_LINGER`: a close drops what was not sent instead of waiting for the client."""


class ReaderDeadline:
    def __init__(self, transport: asyncio.Transport, *, seconds: float) -> None:
        self._transport = transport
        self._connection = transport.get_extra_info("socket")
        self._interval_s = seconds / CHECKS
        self._unread_bytes = 0
        self._silent_checks = 0
        self._timer: asyncio.TimerHandle | None = None
        # Any byte in this process counts as waiting, and the kernel takes few before it sends them.
        transport.set_write_buffer_limits(high=0)
        is_tcp = self._connection.family in (socket.AF_INET, socket.AF_INET6)
        if sys.platform == "linux" and is_tcp:
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 64 * 1024)

    @property
    def unread_bytes(self) -> int:
        waiting = self._transport.get_write_buffer_size()
        if sys.platform != "linux":
            return waiting
        queued = fcntl.ioctl(self._connection.fileno(), termios.TIOCOUTQ, bytes(4))
        return waiting + int(struct.unpack("i", queued)[0])

    def begin(self) -> None:
        self.end()
        self._unread_bytes = self.unread_bytes
        self._silent_checks = 0
        self._await_check()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self) -> None:
        if self.unread_bytes < self._unread_bytes:
            self.begin()
            return
        self._silent_checks += 1
        if self._silent_checks < CHECKS:
            self._await_check()
            return
        self.end()
        log.warning("client does not read its reply", unread_bytes=self._unread_bytes)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def _await_check(self) -> None:
        self.end()
        self._timer = asyncio.get_running_loop().call_later(self._interval_s, self.check)


MAX_HEADER_BYTES: Final = 64 * 1024


class Protocol(HttpToolsProtocol):
    """Counts bytes of endless headers, trailers and chunk extensions, which the parser stores."""

    header_deadline_s: ClassVar[float] = 30.0
    reader_deadline_s: ClassVar[float] = 60.0
    """Seconds in which a client has to take some bytes of a reply that waits for it."""

    _idle_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _reader: ReaderDeadline | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._reader = ReaderDeadline(transport, seconds=self.reader_deadline_s)
        self._await_headers()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_complete()
        if self._reader is not None:
            self._reader.end()
        super().connection_lost(exc)

    @override
    def shutdown(self) -> None:
        """Ends endless replies, for which a server that stops would wait."""
        super().shutdown()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            end = cycle.scope.get("state", {}).get(END_STREAM)
            if end is not None:
                end()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reader is not None:
            self._reader.begin()

    @override
    def resume_writing(self) -> None:
        if self._reader is not None:
            self._reader.end()
        super().resume_writing()

    @override
    def data_received(self, data: bytes) -> None:
        self._idle_bytes += len(data)
        super().data_received(data)
        if self._idle_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self._refuse(431, "The request's headers are too large.")

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_headers()

    @override
    def on_headers_complete(self) -> None:
        self._headers_complete()
        super().on_headers_complete()

    @override
    def on_body(self, body: bytes) -> None:
        self._idle_bytes = 0
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._idle_bytes = 0
        super().on_message_complete()

    @override
    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _await_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_deadline_s, self._too_slow)

    def _headers_complete(self) -> None:
        self._idle_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._refuse(408, "The request's headers did not arrive in time.")

    def _refuse(self, status: int, message: str) -> None:
        """Answers and closes the connection; only closes it when an answer has begun."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is None or cycle.response_complete or not cycle.response_started:
            error = {"message": message, "type": "invalid_request_error"}
            body = json.dumps({"error": {**error, "param": None, "code": None}}).encode()
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
                "content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n"
                f"x-request-id: req_{uuid4().hex}\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
