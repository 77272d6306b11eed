"""Rows of a file by their index, however its bytes are cut into chunks."""

from collections.abc import AsyncGenerator

import pytest

from app.files.row_files import FileLine, RowsTooFar, rows_at
from tests.support.cases import cases

CONTENT = b'\xef\xbb\xbf{"row": 0}\n\n  \r\n{"row": 1}\r\n{"row": 2}\n\n{"row": 3}'
ROWS = {
    0: FileLine(b'{"row": 0}', 1),
    1: FileLine(b'{"row": 1}\r', 4),
    2: FileLine(b'{"row": 2}', 5),
    3: FileLine(b'{"row": 3}', 7),
}


class File:
    """A file that counts what was read of it."""

    def __init__(self, content: bytes, *, chunk_bytes: int) -> None:
        self.content, self.chunk_bytes = content, chunk_bytes
        self.read, self.closed = 0, False

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            for first in range(0, len(self.content), self.chunk_bytes):
                chunk = self.content[first : first + self.chunk_bytes]
                self.read += len(chunk)
                yield chunk
        finally:
            self.closed = True


@cases("chunk_bytes", [1, 2, 7, 1000])
async def test_rows_are_counted_without_blank_lines(chunk_bytes: int) -> None:
    file = File(CONTENT, chunk_bytes=chunk_bytes)
    assert await rows_at(file.chunks(), [3, 0, 2, 9]) == {0: ROWS[0], 2: ROWS[2], 3: ROWS[3]}
    assert await rows_at(file.chunks(), ROWS) == ROWS


async def test_nothing_is_read_behind_the_last_wanted_row() -> None:
    file = File(CONTENT, chunk_bytes=1)
    assert await rows_at(file.chunks(), [1]) == {1: ROWS[1]}
    assert CONTENT[: file.read].count(b"\n") == 4
    assert file.closed


async def test_a_reader_may_bound_what_is_read() -> None:
    file = File(CONTENT, chunk_bytes=4)
    with pytest.raises(RowsTooFar):
        await rows_at(file.chunks(), [3], max_bytes=20)
    assert (file.read, file.closed) == (24, True)
    assert await rows_at(File(CONTENT, chunk_bytes=4).chunks(), [0], max_bytes=20) == {0: ROWS[0]}
