"""Bounds on the replies that a command reads, whatever server is at the address.

Cookies and redirects of a reply are ignored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx
from typing_extensions import override

from app.cli.terminal import ServiceError
from app.kit.processes import NO_ANSWER

REPLY_BYTES: Final = 64 * 1024**2
"""Most bytes of a reply that is held in memory."""
DOWNLOAD_BYTES: Final = 256 * 1024**3
"""Most bytes of a file whose length the service does not name."""
ANSWER_BYTES: Final = 1024**3
"""Most bytes of an answer that comes in pieces, each with names and marks around some letters."""
_MOST_BYTES: Final = "agent_rft_most_bytes"


class ReplyTooLong(ServiceError):
    """A reply went on behind its bound."""


def at_most(size: int | None) -> dict[str, Any]:
    """Returns the `extensions` of a request whose successful reply may have the length that it
    names, without one `size` bytes, or with `None` any number.
    """
    return {_MOST_BYTES: size}


def limited_client(**options: Any) -> httpx.Client:
    """Returns a client whose replies have `REPLY_BYTES` at most, unless a request says other."""
    return httpx.Client(
        **options,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        event_hooks={"response": [_check]},
    )


class _LimitedStream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, host: str, most_bytes: int) -> None:
        self._inner, self._host, self._most_bytes = inner, host, most_bytes

    @override
    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._inner:
            size += len(chunk)
            if size > self._most_bytes:
                raise ReplyTooLong(
                    f"{self._host} sent more than {_amount(self._most_bytes)} in one reply, which "
                    "no agent-rft service does. Check the address.",
                    exit_code=NO_ANSWER,
                )
            yield chunk

    @override
    def close(self) -> None:
        self._inner.close()


def _check(reply: httpx.Response) -> None:
    """Bounds a reply whose head has come. Raises `ServiceError` for one in a content encoding."""
    # The client would read it to prepare a request that is never sent, and fail where it is not a
    # URL.
    reply.headers.pop("location", None)
    encoding = reply.headers.pop("content-encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise ServiceError(
            f"{reply.url.host} answered in the content encoding {encoding[:40]!r}, which was not "
            "asked for. Is a proxy between this machine and the service?",
            exit_code=NO_ANSWER,
        )
    most_bytes: int | None = REPLY_BYTES
    if reply.is_success and _MOST_BYTES in reply.request.extensions:
        ends = "content-length" in reply.headers
        most_bytes = None if ends else reply.request.extensions[_MOST_BYTES]
    if most_bytes is not None and isinstance(reply.stream, httpx.SyncByteStream):
        reply.stream = _LimitedStream(reply.stream, reply.url.host, most_bytes)


def _amount(size: int) -> str:
    return f"{size // 1024**3} GB" if size >= 1024**3 else f"{size // 1024**2} MB"


_LONGEST: Final = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One message. Without data it only shows that the connection is alive."""

    name: str = ""
    data: str = ""
    id: str | None = None


@dataclass(slots=True)
class _Message:
    name: str = ""
    data: list[str] = field(default_factory=list)
    id: str | None = None

    def add(self, line: str) -> None:
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            self.name = value
        elif key == "data":
            self.data.append(value)
        elif key == "id":
            self.id = value

    def ended(self) -> ServerEvent:
        return ServerEvent(self.name, "\n".join(self.data), self.id)


def server_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yields each message, and one without data for each comment. Raises `ServiceError` for a reply
    that is not a stream of messages.
    """
    message, size = _Message(), 0
    for line in _lines(chunks):
        text = line.rstrip(b"\r").decode("utf-8", "replace")
        size += len(line)
        if size > _LONGEST:
            raise _too_long()
        if text.startswith(":"):
            yield ServerEvent()
        elif text:
            message.add(text)
        else:
            if message.data:
                yield message.ended()
            message, size = _Message(), 0


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields complete lines; an incomplete line of a broken connection is dropped."""
    # The beginning of a line, in pieces: joined with each chunk, a long line is copied each time.
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        first, *more = chunk.split(b"\n")
        pieces.append(first)
        size += len(first)
        if more:
            yield b"".join(pieces)
            *lines, rest = more
            yield from lines
            pieces, size = [rest], len(rest)
        if size > _LONGEST:
            raise _too_long()


def _too_long() -> ServiceError:
    return ServiceError("the service's stream has no end of a message", exit_code=NO_ANSWER)
