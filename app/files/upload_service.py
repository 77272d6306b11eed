"""Uploads in parts, in any order. The file appears complete, or not at all."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NoReturn

from app.database import Database, UnitOfWork
from app.files.files import (
    MAX_PART_BYTES,
    MAX_PARTS,
    MAX_UPLOAD_BYTES,
    UPLOAD_LIFETIME_S,
    FileRow,
    NewFile,
    UploadPartRow,
    UploadRow,
)
from app.files.service import JsonlCheck, check_purpose, checked_blocks, file_row, object_key
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, TooLarge, Unavailable, WrongState
from app.kit.ids import new_id
from app.kit.objects import Objects, StoredObject


class UploadService:
    def __init__(self, database: Database, objects: Objects, tenant: Tenant) -> None:
        self._database = database
        self._objects = objects
        self._tenant = tenant

    async def create(self, new: NewFile, *, size: int, mime_type: str) -> UploadRow:
        check_purpose(new.purpose)
        now = int(time.time())
        row = UploadRow(
            id=new_id("upload_"),
            project_id=self._tenant.project_id,
            filename=new.filename,
            purpose=new.purpose,
            mime_type=mime_type,
            bytes=size,
            status="pending",
            created_at=now,
            expires_at=now + UPLOAD_LIFETIME_S,
            file_expires_after_s=new.expires_after_s,
            file_id=None,
            part_ids=(),
        )
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_upload()
            await unit.uploads.insert(row)
        return row

    async def pending(self, upload_id: str) -> UploadRow:
        async with self._database.tenant(self._tenant) as unit:
            return _check_pending(await unit.uploads.get(upload_id))

    async def add_part(
        self,
        upload: UploadRow,
        blocks: AsyncIterable[bytes],
        *,
        before_insert: Callable[[str], Awaitable[None]] | None = None,
    ) -> UploadPartRow:
        part_id = new_id("part_")
        key = f"{upload.directory}/{part_id}"
        try:
            stored = await self._objects.put(key, blocks, max_bytes=MAX_PART_BYTES)
        except FileNotFoundError:  # the upload ended, and its parts with it, while this one came
            await self.pending(upload.id)
            raise
        part = UploadPartRow(
            id=part_id, upload_id=upload.id, bytes=stored.bytes, created_at=int(time.time())
        )
        try:
            if before_insert is not None:
                await before_insert(stored.sha256)
            async with self._database.tenant(self._tenant) as unit:
                await _check_fits(unit, part)
                await unit.quotas.check_bytes(part.bytes)
                await unit.uploads.insert_part(part)
        except BaseException:
            await self._objects.delete(key)
            raise
        return part

    async def complete(
        self, upload_id: str, part_ids: Sequence[str], *, md5: str | None
    ) -> tuple[UploadRow, FileRow]:
        """Joins parts into a file. A repeated call returns the same file."""
        async with self._database.tenant(self._tenant) as unit:
            upload = await unit.uploads.get(upload_id)
            if upload.status == "completed":
                return await _completed_before(unit, upload, part_ids)
            _check_parts(_check_pending(upload), part_ids, await unit.uploads.parts(upload_id))
        file_id = new_id("file-")
        key = object_key(self._tenant, file_id)
        try:
            stored = await self._join(upload, part_ids, key=key, md5=md5)
        except FileNotFoundError:  # another call ended the upload while its parts were read
            return await self._ended(upload_id, part_ids)
        new = NewFile(upload.filename, upload.purpose, upload.file_expires_after_s)
        row = file_row(self._tenant, file_id, stored, new)
        try:
            return await self._finish(upload, part_ids, row)
        except BaseException:
            await self._objects.delete(key)
            raise

    async def _finish(
        self, upload: UploadRow, part_ids: Sequence[str], row: FileRow
    ) -> tuple[UploadRow, FileRow]:
        async with self._database.tenant(self._tenant) as unit:
            held = await unit.uploads.hold(upload.id)
            if held.status == "completed":  # by the same call, sent twice
                earlier = await _completed_before(unit, held, part_ids)
                unit.after_commit(lambda: self._objects.delete(row.object_key))
                return earlier
            _check_pending(held)
            # From here on the file counts for the quota in place of the parts.
            await unit.uploads.complete(upload.id, file_id=row.id, part_ids=part_ids)
            await unit.quotas.check_file(row.bytes)
            made = await unit.files.insert(row)
            unit.after_commit(lambda: self._objects.delete(upload.directory))
            return replace(held, status="completed", file_id=row.id, part_ids=tuple(part_ids)), made

    async def _ended(self, upload_id: str, part_ids: Sequence[str]) -> tuple[UploadRow, FileRow]:
        async with self._database.tenant(self._tenant) as unit:
            upload = await unit.uploads.get(upload_id)
            if upload.status != "completed":
                _check_pending(upload)
                raise Unavailable(f"A part of upload {upload_id} cannot be read.")
            return await _completed_before(unit, upload, part_ids)

    async def cancel(self, upload_id: str) -> UploadRow:
        async with self._database.tenant(self._tenant) as unit:
            upload = _check_pending(await unit.uploads.hold(upload_id))
            await unit.uploads.cancel(upload_id)
            unit.after_commit(lambda: self._objects.delete(upload.directory))
        return replace(upload, status="cancelled")

    async def _join(
        self, upload: UploadRow, part_ids: Sequence[str], *, key: str, md5: str | None
    ) -> StoredObject:
        digest = hashlib.md5(usedforsecurity=False)

        async def joined() -> AsyncIterator[bytes]:
            for part_id in part_ids:
                async for block in self._objects.read(f"{upload.directory}/{part_id}"):
                    if md5 is not None:
                        await asyncio.to_thread(digest.update, block)
                    yield block

        async def checked_chunks() -> AsyncIterator[bytes]:
            async for block in checked_blocks(joined(), JsonlCheck(), upload.purpose):
                yield block
            if md5 is not None and digest.hexdigest() != md5.lower():
                raise InvalidRequest(
                    f"The parts' MD5 is {digest.hexdigest()}, not the md5 given.",
                    param="md5",
                    code="checksum_mismatch",
                )

        return await self._objects.put(key, checked_chunks(), max_bytes=MAX_UPLOAD_BYTES)


def _check_pending(upload: UploadRow) -> UploadRow:
    if upload.status != "pending":
        raise WrongState(f"Upload {upload.id} is {upload.status}, not pending.", param="upload_id")
    return upload


async def _check_fits(unit: UnitOfWork, part: UploadPartRow) -> None:
    _check_pending(await unit.uploads.hold(part.upload_id))
    count, size = await unit.uploads.received(part.upload_id)
    if count >= MAX_PARTS:
        raise InvalidRequest(f"An upload holds at most {MAX_PARTS} parts.", param="data")
    if size + part.bytes > MAX_UPLOAD_BYTES:
        raise TooLarge(f"An upload holds at most {MAX_UPLOAD_BYTES} bytes.", param="data")


async def _completed_before(
    unit: UnitOfWork, upload: UploadRow, part_ids: Sequence[str]
) -> tuple[UploadRow, FileRow]:
    if tuple(part_ids) != upload.part_ids or upload.file_id is None:
        raise WrongState(f"Upload {upload.id} is completed, with other parts.", param="upload_id")
    return upload, await unit.files.get(upload.file_id)


def _check_parts(
    upload: UploadRow, part_ids: Sequence[str], parts: dict[str, UploadPartRow]
) -> None:
    seen: set[str] = set()
    for position, part_id in enumerate(part_ids):
        if part_id not in parts:
            _refuse(position, f"No such part of upload {upload.id}: {part_id[:64]}")
        if part_id in seen:
            _refuse(position, f"Part {part_id} is named twice.")
        seen.add(part_id)
    size = sum(parts[part_id].bytes for part_id in part_ids)
    if size != upload.bytes:
        raise InvalidRequest(
            f"The parts hold {size} bytes, but the upload was announced with {upload.bytes}.",
            param="part_ids",
            code="bytes_mismatch",
        )


def _refuse(position: int, message: str) -> NoReturn:
    raise InvalidRequest(message, param=f"part_ids[{position}]", code="invalid_part")
