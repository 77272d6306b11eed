"""Writes rows as files of a project, for jobs to read, and deletes those that turn out unneeded."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from app.domain.data.files import FileRow, NewFile
from app.domain.documents.json_object import Json
from app.domain.errors import RequestError
from app.services.files.files import Check, FileService

PURPOSE: Final = "fine-tune"
"""Purpose of files that jobs read."""
_BLOCK_BYTES: Final = 1 << 20


class RowFiles:
    def __init__(self, files: FileService) -> None:
        self._files = files

    async def write(
        self,
        rows: Sequence[Json],
        name: str,
        *,
        file_id: str | None = None,
        within: Check | None = None,
    ) -> FileRow:
        """Stores rows. `file_id` is an id that the caller has noted before; `within` may refuse in
        the transaction that writes the file's row.
        """
        return await self.store(_jsonl(rows), name, file_id=file_id, within=within)

    async def store(
        self,
        blocks: AsyncIterable[bytes],
        name: str,
        *,
        file_id: str | None = None,
        within: Check | None = None,
    ) -> FileRow:
        """Stores rows that are JSON Lines already."""
        new = NewFile(name, PURPOSE, None)
        return await self._files.upload(
            blocks, purpose=PURPOSE, described=lambda: new, file_id=file_id, within=within
        )

    async def discard(self, file_ids: Sequence[str]) -> None:
        """Deletes files that turned out unneeded; a file that a job reads by now stays."""
        for file_id in file_ids:
            with suppress(RequestError):
                await self._files.delete(file_id)


async def _jsonl(rows: Sequence[Json]) -> AsyncIterator[bytes]:
    block = bytearray()
    for row in rows:
        block += json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(block) >= _BLOCK_BYTES:
            yield bytes(block)
            block.clear()
    yield bytes(block)
