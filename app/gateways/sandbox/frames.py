"""Frames of the sandbox's socket: a length in four bytes, then that many bytes of JSON.

A connection carries one request: a header frame with its kind, for `run` a second frame with the
program, and one frame of reply. The header comes first, so that a runner reads a program only when
it has a slot for it. Before the reply the runner sends a keep-alive each `KEEP_ALIVE_S` seconds: if
a caller gets none for `SILENCE_S`, the runner hangs. Must not know the meaning of requests.
"""

import asyncio
import json
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

MAX_HEADER: Final = 4096
KEEP_ALIVE: Final = {"alive": True}
KEEP_ALIVE_S: Final = 2.0
SILENCE_S: Final = 30.0
_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 65_536
_LONG: Final = 16_384
"""Number of bytes from which a frame is parsed on a thread."""
_LONGEST_ADDRESS: Final = 100
"""Longest address in bytes; the kernel accepts 107."""


class BadFrame(Exception):
    """The peer sent invalid data instead of a frame."""


def pack(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


def to_frame(value: Any) -> bytes:
    """Returns a frame of ASCII JSON, which can express every text, lone surrogates included."""
    return pack(json.dumps(value, separators=(",", ":")).encode())


async def read_frame(reader: asyncio.StreamReader, *, limit: int) -> bytes:
    """Reads one frame of at most `limit` bytes. Raises `BadFrame`."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if length > limit:
            raise BadFrame(f"a frame of {length} bytes exceeds the limit of {limit}")
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise BadFrame("the connection ended within a frame") from None


async def skip_frame(reader: asyncio.StreamReader, *, limit: int) -> None:
    """Reads one frame of at most `limit` bytes and drops it. Raises `BadFrame`."""
    try:
        (left,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if left > limit:
            raise BadFrame(f"a frame of {left} bytes exceeds the limit of {limit}")
        while left:
            left -= len(await reader.readexactly(min(left, _CHUNK)))
    except asyncio.IncompleteReadError:
        raise BadFrame("the connection ended within a frame") from None


async def read_object(reader: asyncio.StreamReader, *, limit: int) -> dict[str, Any]:
    """Reads one frame with a JSON object. Raises `BadFrame`."""
    frame = await read_frame(reader, limit=limit)
    try:
        # On a thread where it is long: other calls wait for this loop.
        long = len(frame) >= _LONG
        value = await asyncio.to_thread(json.loads, frame) if long else json.loads(frame)
    except (ValueError, RecursionError):
        raise BadFrame("a frame without JSON") from None
    if not isinstance(value, dict):
        raise BadFrame("a frame without an object")
    return value


@contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """Yields an address for a socket's path of any length, valid within the context."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
