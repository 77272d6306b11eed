"""The pulse of a supervised process: a line to its supervisor at every beat of its event loop.

Standard input of the process is one end of a socket pair. The other end belongs to the supervisor:
it closes when the supervisor ends (see `parent_watch`), and there the supervisor reads the lines
that this module writes, the number and the text of the latest mark of progress. A blocked event
loop writes no lines.
"""

import asyncio
import os
import socket
import stat
from contextlib import suppress

from workers.progress import PROGRESS, ProgressMark

_STDIN = 0
_MAX_WORDS = 120


def encode(mark: ProgressMark) -> bytes:
    words = " ".join(mark.what.split())[:_MAX_WORDS]
    return f"{mark.number} {words}\n".encode()


def decode(line: bytes) -> ProgressMark:
    """Parses a line of `encode`. Raises `ValueError` for any other line."""
    number, _, what = line.decode().strip().partition(" ")
    return ProgressMark(int(number), what)


async def send_beats(every_s: float) -> None:
    """Writes a line at every beat, for ever. Returns at once in a process without a supervisor."""
    if not stat.S_ISSOCK(os.fstat(_STDIN).st_mode):
        return
    # A second descriptor of the same socket; the thread of `parent_watch` blocks on the first one,
    # so the socket itself must not become non-blocking.
    with socket.socket(fileno=os.dup(_STDIN)) as line:
        while True:
            # A supervisor that was stopped for a while reads nothing; one more line would have no
            # reader.
            with suppress(BlockingIOError, BrokenPipeError):
                line.send(encode(PROGRESS.latest), socket.MSG_DONTWAIT)
            await asyncio.sleep(every_s)
