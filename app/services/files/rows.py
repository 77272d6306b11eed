"""Reads one row of a JSONL file. Must not know what a row should hold."""

from typing import Final

from app.domain.errors import NotFound
from app.services.files.files import FileService

MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""A row further behind is not looked for: a person waits for it."""
_BOM: Final = b"\xef\xbb\xbf"


async def row_of(files: FileService, file_id: str, index: int) -> bytes:
    """Returns the line of a row, counted from 0 without blank lines. Raises `NotFound`."""
    file, chunks = await files.content(file_id)
    rest, read, seen = b"", 0, 0
    try:
        async for chunk in chunks:
            read += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.removeprefix(_BOM).strip():
                    if seen == index:
                        return line.removeprefix(_BOM)
                    seen += 1
            if read > MAX_READ_BYTES:
                raise NotFound(f"Row {index} of {file.id} is too far behind its first bytes.")
    finally:
        await chunks.aclose()
    if seen == index and rest.strip():
        return rest.removeprefix(_BOM)
    raise NotFound(f"File {file_id} has no row {index}.")
