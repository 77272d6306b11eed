"""Reads replies: the few keys that a command shows, of which all others may change with versions;
and streams of server-sent events, however their bytes are cut.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import quote

from app.cli.terminal import ServiceError, WrongOption, moment
from app.kit.processes import NO_ANSWER

_ID: Final = re.compile(r"[!-~]{1,256}")
Value = TypeVar("Value", str, int, float, bool, dict[str, Any], list[Any])


def is_service_id(text: str) -> bool:
    """Another text could not be sent back, and the user would be blamed for it."""
    return _ID.fullmatch(text) is not None


class Reply:
    """A JSON object of the service. Keys of another kind raise `ServiceError`."""

    __slots__ = ("_path", "data")

    def __init__(self, data: object, path: str = "") -> None:
        if not isinstance(data, dict):
            raise unreadable_key(path)
        self.data: dict[str, Any] = data
        self._path = path

    def find(self, key: str, kind: type[Value]) -> Value | None:
        value = self.data.get(key)
        if value is None:
            return None
        if kind is float and type(value) is int:
            value = _float(value)
        if type(value) is not kind or (type(value) is float and not math.isfinite(value)):
            raise unreadable_key(self._at(key))
        return value

    def get(self, key: str, kind: type[Value]) -> Value:
        value = self.find(key, kind)
        if value is None:
            raise unreadable_key(self._at(key))
        return value

    def text(self, key: str) -> str:
        return self.get(key, str)

    def id(self, key: str = "id") -> str:
        value = self.text(key)
        if not is_service_id(value):
            raise unreadable_key(self._at(key))
        return value

    def moment(self, key: str) -> str:
        return moment(self.find(key, float))

    def child(self, key: str) -> "Reply | None":
        found = self.data.get(key)
        return None if found is None else Reply(found, self._at(key))

    def children(self, key: str) -> "list[Reply]":
        found = self.find(key, list) or []
        return [Reply(one, f"{self._at(key)}.{number}") for number, one in enumerate(found)]

    def texts(self) -> dict[str, str]:
        return {key: self.text(key) for key in self.data}

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


NOTHING: Final = Reply({})


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def unreadable_key(path: str) -> ServiceError:
    return ServiceError(
        f"the service's reply cannot be read ({path}). Is it an agent-rft service of this version?",
        exit_code=NO_ANSWER,
    )


def unreadable_reply(where: str) -> ServiceError:
    return ServiceError(
        f"{where} did not answer as an agent-rft service does. Check the address and its path /v1.",
        exit_code=NO_ANSWER,
    )


def path_of(*parts: str) -> str:
    """Returns a path with escaped parts, so that no id can lead to another path."""
    # A dot segment would be resolved by the client; the service has no such id.
    try:
        return "/".join(quote(part, safe="").replace(".", "%2E") for part in parts)
    except UnicodeEncodeError as error:
        raise not_text() from error


def not_text() -> ServiceError:
    return WrongOption("an argument is not UTF-8 text")


_LONGEST: Final = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One message. Without data it only shows that the connection is alive."""

    name: str = ""
    data: str = ""
    id: str | None = None


def server_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yields the messages, and empty ones for comments. Raises `ServiceError`."""
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
