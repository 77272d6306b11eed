"""Files: upload, look up, read back, delete. At upload only the JSONL syntax is checked, while the
bytes arrive; a job checks the content of its rows.
"""

import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import aclosing

from app.domain.accounts.tenants import Tenant
from app.domain.data.files import IN_PARTS, MAX_FILE_BYTES, PURPOSES, FileRow, NewFile
from app.domain.errors import InvalidRequest, NotFound, TooLarge, WrongState
from app.domain.ids import new_id
from app.gateways.objects import DOWNLOAD_CHUNK_BYTES, Objects, StoredObject
from app.services.files.file_head import HEAD_BYTES, FileHead, file_head
from app.services.files.jsonl import JsonlCheck, checked_blocks
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

Check = Callable[[UnitOfWork], Awaitable[None]]
BATCH_LIFETIME_S = 30 * 24 * 3600
"""Default lifetime of `batch` files, as in the hosted API."""


class FileService:
    def __init__(self, database: Database, objects: Objects, tenant: Tenant) -> None:
        self._database = database
        self._objects = objects
        self._tenant = tenant

    async def upload(
        self,
        blocks: AsyncIterable[bytes],
        *,
        purpose: str | None,
        described: Callable[[], NewFile],
        before_insert: Callable[[str], Awaitable[None]] | None = None,
        file_id: str | None = None,
        within: Check | None = None,
    ) -> FileRow:
        """Stores a file. `purpose` is the purpose if it is known before the bytes; `described` is
        called after the last byte, because a form may contain the other fields only then.
        `before_insert` is called with the SHA-256 before the row is written, and may still refuse.
        `file_id` is an id that the caller has noted before. `within` is called in the transaction
        that writes the row, and may refuse, too.

        Raises `InvalidRequest` with the line number for invalid JSONL, and `QuotaExceeded`.
        """
        if purpose is not None:
            check_purpose(purpose)
        file_id, check = file_id or new_id("file-"), JsonlCheck()
        finished: list[NewFile] = []
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_file(1)  # refuses before the bytes are read

        async def checked_chunks() -> AsyncIterator[bytes]:
            async for block in checked_blocks(blocks, check, purpose):
                yield block
            finished.append(described())
            check_purpose(finished[0].purpose)
            check.check(finished[0].purpose)

        key = object_key(self._tenant, file_id)
        try:
            stored = await self._objects.put(key, checked_chunks(), max_bytes=MAX_FILE_BYTES)
        except TooLarge as error:
            raise TooLarge(f"{error.message} {IN_PARTS}", param=error.param) from error
        row = file_row(self._tenant, file_id, stored, finished[0])
        try:
            if before_insert is not None:
                await before_insert(stored.sha256)
            return await self._insert(row, within)
        except BaseException:
            await self._objects.delete(key)
            raise

    async def _insert(self, row: FileRow, within: Check | None) -> FileRow:
        async with self._database.tenant(self._tenant) as unit:
            if within is not None:
                await within(unit)
            await unit.quotas.check_file(row.bytes)
            return await unit.files.insert(row)

    async def get(self, file_id: str) -> FileRow:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.files.get(file_id)

    async def page(
        self, *, purpose: str | None, after: str | None, limit: int, order: str
    ) -> tuple[list[FileRow], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.files.page(purpose=purpose, after=after, limit=limit, order=order)

    async def content(self, file_id: str) -> tuple[FileRow, AsyncGenerator[bytes, None]]:
        row = await self.get(file_id)
        chunks = self._objects.read(row.object_key, chunk_bytes=DOWNLOAD_CHUNK_BYTES)
        try:
            first = await anext(chunks, b"")
        except FileNotFoundError as error:
            raise NotFound(
                f"The content of {file_id} is gone: upload the file again.", param="file_id"
            ) from error
        return row, _rejoined(first, chunks)

    async def first_rows(self, file_id: str, count: int) -> FileHead:
        """Returns the first rows of a file, of which at most `HEAD_BYTES` are read."""
        row, chunks = await self.content(file_id)
        head = bytearray()
        async with aclosing(chunks):
            async for chunk in chunks:
                head += chunk
                if len(head) >= HEAD_BYTES:
                    break
        return file_head(bytes(head[:HEAD_BYTES]), count, is_all=row.bytes <= HEAD_BYTES)

    async def delete(self, file_id: str) -> None:
        """Deletes a file. Raises `WrongState` while a job needs it: a resumed job reads it
        again.
        """
        async with self._database.tenant(self._tenant) as unit:
            row = await unit.files.get(file_id)
            await unit.files.lock([file_id])
            job_id = await unit.jobs.open_with_file(file_id)
            if job_id is not None:
                raise WrongState(
                    f"File {file_id} is used by job {job_id}, which has not ended. Wait for its "
                    f"end, or end it: POST /v1/fine_tuning/jobs/{job_id}/cancel.",
                    code="file_in_use",
                )
            await unit.files.mark_deleted(file_id)
            unit.after_commit(lambda: self._objects.delete(row.object_key))

    async def purge(self, file_ids: Sequence[str]) -> list[str]:
        """Removes the bytes of those of the files that were deleted, and returns their ids. A
        deletion whose process ended, or whose storage failed, leaves bytes behind its row.
        """
        async with self._database.tenant(self._tenant) as unit:
            deleted = await unit.files.deleted(file_ids)
        for file in deleted:
            await self._objects.delete(file.object_key)
        return [file.id for file in deleted]


def check_purpose(purpose: str) -> None:
    if purpose not in PURPOSES:
        shown = purpose[:64]
        raise InvalidRequest(
            f"'{shown}' is not one of {list(PURPOSES)} - 'purpose'", param="purpose"
        )


def object_key(tenant: Tenant, file_id: str) -> str:
    return f"projects/{tenant.project_id}/files/{file_id}"


def file_row(tenant: Tenant, file_id: str, stored: StoredObject, new: NewFile) -> FileRow:
    now, lifetime_s = int(time.time()), new.expires_after_s
    if lifetime_s is None and new.purpose == "batch":
        lifetime_s = BATCH_LIFETIME_S
    return FileRow(
        id=file_id,
        project_id=tenant.project_id,
        filename=new.filename,
        purpose=new.purpose,
        bytes=stored.bytes,
        sha256=stored.sha256,
        object_key=object_key(tenant, file_id),
        status="processed",
        status_details=None,
        created_at=now,
        expires_at=None if lifetime_s is None else now + lifetime_s,
    )


async def _rejoined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for chunk in rest:
            yield chunk
