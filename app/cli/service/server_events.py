"""Reads server-sent events from the bytes of a reply.

Only a line feed ends a line, because a model's texts may contain other line separators within a
message.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import NO_ANSWER

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
