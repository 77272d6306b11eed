"""Files: upload, look up, read back, delete. At upload only the JSONL shape is checked, line by
line as the bytes arrive; what a row must hold is checked by the job that uses it.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterable, AsyncIterator

from app.domain.errors import InvalidRequest, NotFound, WrongState
from app.domain.files import FileRow
from app.domain.ids import new_id
from app.domain.tenants import Tenant
from app.gateways.objects import Objects
from app.store.database import Database

MAX_FILE_BYTES = 512 * 1024 * 1024
MAX_LINE_BYTES = 8 * 1024 * 1024
PURPOSES = ("assistants", "batch", "fine-tune", "vision", "user_data", "evals")
JSONL_PURPOSES = frozenset({"fine-tune", "batch", "evals"})


class FileService:
    def __init__(self, database: Database, objects: Objects, tenant: Tenant) -> None:
        self._database = database
        self._objects = objects
        self._tenant = tenant

    async def upload(
        self,
        chunks: AsyncIterable[bytes],
        *,
        filename: str,
        purpose: str,
        expires_after_s: int | None,
    ) -> FileRow:
        """Store a file. Raises `InvalidRequest` with the line number for JSONL that is none."""
        if purpose not in PURPOSES:
            raise InvalidRequest(
                f"'{purpose}' is not one of {list(PURPOSES)} - 'purpose'", param="purpose"
            )
        file_id = new_id("file-")
        key = f"projects/{self._tenant.project_id}/files/{file_id}"
        if purpose in JSONL_PURPOSES:
            chunks = checked_jsonl(chunks)
        stored = await self._objects.put(key, chunks, max_bytes=MAX_FILE_BYTES)
        now = int(time.time())
        row = FileRow(
            id=file_id,
            project_id=self._tenant.project_id,
            filename=filename,
            purpose=purpose,
            bytes=stored.bytes,
            sha256=stored.sha256,
            object_key=key,
            status="processed",
            status_details=None,
            created_at=now,
            expires_at=None if expires_after_s is None else now + expires_after_s,
        )
        try:
            async with self._database.tenant(self._tenant) as unit:
                await unit.files.insert(row)
        except BaseException:
            await self._objects.delete(key)
            raise
        return row

    async def get(self, file_id: str) -> FileRow:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.files.get(file_id)

    async def page(
        self, *, purpose: str | None, after: str | None, limit: int, order: str
    ) -> tuple[list[FileRow], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.files.page(purpose=purpose, after=after, limit=limit, order=order)

    async def content(self, file_id: str) -> tuple[FileRow, AsyncIterator[bytes]]:
        row = await self.get(file_id)
        chunks = self._objects.read(row.object_key)
        try:
            first = await anext(chunks, b"")
        except FileNotFoundError as error:
            raise NotFound(f"The content of {file_id} is gone.", param="file_id") from error
        return row, _rejoined(first, chunks)

    async def delete(self, file_id: str) -> None:
        """Raises `WrongState` while a job needs the file: one that is resumed reads it again."""
        async with self._database.tenant(self._tenant) as unit:
            row = await unit.files.get(file_id)
            job_id = await unit.jobs.open_with_file(file_id)
            if job_id is not None:
                raise WrongState(f"File {file_id} is used by job {job_id}.", code="file_in_use")
            await unit.files.mark_deleted(file_id)
            unit.after_commit(lambda: self._objects.delete(row.object_key))


async def _rejoined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def checked_jsonl(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Pass chunks on, raising `InvalidRequest` at the first line that is not a JSON object.

    Holds one chunk and one line in memory, never the file. Lines are read on a thread: parsing a
    chunk of 1 MiB on the event loop would hold up every other request for 10 ms.
    """
    pending, number = b"", 0
    async for chunk in chunks:
        yield chunk
        *lines, pending = (pending + chunk).split(b"\n")
        await asyncio.to_thread(_check_lines, lines, number)
        number += len(lines)
        if len(pending) > MAX_LINE_BYTES:
            raise InvalidRequest(
                f"Line {number + 1} is longer than {MAX_LINE_BYTES} bytes.", param="file"
            )
    if pending:
        number += 1
        _check_line(pending, number)
    if number == 0:
        raise InvalidRequest("The file is empty.", param="file", code="empty_file")


def _check_lines(lines: list[bytes], seen: int) -> None:
    for number, line in enumerate(lines, start=seen + 1):
        _check_line(line, number)


def _check_line(line: bytes, number: int) -> None:
    if not line.strip():
        return
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        problem = None if isinstance(value, dict) else "is not a dictionary"
    except UnicodeDecodeError:
        problem = "is not valid UTF-8"
    except (ValueError, RecursionError):
        problem = "is not valid JSON"
    if problem is not None:
        raise InvalidRequest(
            "Expected file to have JSONL format, where every line is a JSON dictionary. "
            f"Line {number} {problem} (HINT: line starts with: {_shown(line)!r}).",
            param="file",
            code="invalid_jsonl",
        )


def _shown(line: bytes) -> str:
    return line[:40].decode("utf-8", errors="replace")
