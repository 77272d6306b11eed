"""Bounds the replies that the process which writes one job reads.

A server is the customer's, and its reply may have no end, or a few bytes that decode to gigabytes.
Promises that no reply becomes larger in memory than the limit, and that one which is tried again is
not read. The bound is at the one place below every library: the bodies that urllib3 yields. Must
not know the library.
"""

from collections.abc import Generator
from typing import Final

from urllib3 import HTTPResponse

LONGEST_REPLY: Final = 8 * 1024**2
"""Decoded bytes of one reply; JSON of it may take 30 times as much as objects."""
_CHUNK: Final = 65_536


class ReplyTooLarge(Exception):
    """The decoded body of a reply is larger than `LONGEST_REPLY`."""


def bound_replies() -> None:
    """Bounds every reply that this process reads with urllib3, with requests too. A larger one
    raises `ReplyTooLarge`, and its connection is closed.
    """
    stream = HTTPResponse.stream

    def bounded(
        response: HTTPResponse, amt: int | None = _CHUNK, decode_content: bool | None = None
    ) -> Generator[bytes, None, None]:
        left = LONGEST_REPLY
        # urllib3 decodes no more than `amt` bytes before it yields them.
        for chunk in stream(response, amt or _CHUNK, decode_content):
            left -= len(chunk)
            if left < 0:
                response.close()
                raise ReplyTooLarge
            yield chunk

    HTTPResponse.stream = bounded  # type: ignore[method-assign, assignment]  # below every library
    HTTPResponse.drain_conn = HTTPResponse.close  # type: ignore[method-assign]  # it would read all
