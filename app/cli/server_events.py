"""Reads a stream of messages: server-sent events, however their bytes are cut."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from app.cli.terminal import ServiceError
from app.kit.processes import NO_ANSWER

_LONGEST: Final = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One message. Without data it only shows that the connection is alive."""

    name: str = ""
    data: str = ""
    id: str | None = None


def server_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yields each message, and one without data for each comment. Raises `ServiceError` for a reply
    that is not a stream of messages.
    """
    read, data, size = dict[str, str](), list[str](), 0
    for line in _lines(chunks):
        text = line.rstrip(b"\r").decode("utf-8", "replace")
        size += len(line)
        if size > _LONGEST:
            raise _too_long()
        key, _, value = text.partition(":")
        if text and not key:
            yield ServerEvent()
        elif key == "data":
            data.append(value.removeprefix(" "))
        elif text:
            read[key] = value.removeprefix(" ")
        else:
            if data:
                yield ServerEvent(read.get("event", ""), "\n".join(data), read.get("id"))
            read, data, size = {}, [], 0


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
