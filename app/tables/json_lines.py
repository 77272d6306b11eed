"""Reads the lines of a JSON Lines file in bounded memory. Must not know what a line means."""

from collections.abc import Iterator
from typing import BinaryIO

from app.domain.data.chat_rows import MAX_ROW_BYTES


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields number and bytes of each line; a line over the limit is cut just above it."""
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        rest = line
        while len(rest) == MAX_ROW_BYTES + 2 and not rest.endswith(b"\n"):
            rest = file.readline(MAX_ROW_BYTES + 2)
        yield number, line
