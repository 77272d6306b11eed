"""Reads rows of a JSONL file by their index. Must not know the content of rows.

Owns the index of a row: its number among the lines that are not blank, from 0. All readers treat
the same lines as blank (`is_blank`), so that a rollout, its request and its output item refer to
the same row.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from app.domain.data.chat_rows import is_blank

_BOM: Final = b"\xef\xbb\xbf"


class RowsTooFar(Exception):
    """The rows are beyond the bytes that may be read."""


@dataclass(frozen=True, slots=True)
class FileLine:
    """A row as written, without a byte order mark."""

    content: bytes
    number: int
    """Line of the file, from 1."""


async def rows_at(
    chunks: AsyncGenerator[bytes, None], wanted: Iterable[int], *, max_bytes: int | None = None
) -> dict[int, FileLine]:
    """Returns the wanted rows that the file has. Reads no further than the last of them, and closes
    `chunks`. Raises `RowsTooFar` after `max_bytes`.
    """
    missing, found, row = set(wanted), dict[int, FileLine](), 0
    async with aclosing(chunks), aclosing(_lines(chunks, max_bytes=max_bytes)) as lines:
        async for line in lines:
            if is_blank(line.content):
                continue
            if row in missing:
                found[row] = line
                missing.discard(row)
            if not missing:
                break
            row += 1
    return found


async def _lines(
    chunks: AsyncIterator[bytes], *, max_bytes: int | None
) -> AsyncGenerator[FileLine, None]:
    rest, read, number = b"", 0, 0
    async for chunk in chunks:
        read += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield _line(line, number)
        if max_bytes is not None and read > max_bytes:
            raise RowsTooFar
    if rest:
        yield _line(rest, number + 1)


def _line(content: bytes, number: int) -> FileLine:
    return FileLine(content.removeprefix(_BOM) if number == 1 else content, number)
