"""Uploaded files: their check while they arrive, their rows and their bytes."""

import asyncio
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
from dataclasses import dataclass
from itertools import islice
from typing import Final

import msgspec

from app.database import Database, UnitOfWork
from app.files.files import IN_PARTS, MAX_FILE_BYTES, PURPOSES, FileRow, NewFile
from app.files.rows import MAX_TRAIN_EXAMPLES, is_blank
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, TooLarge, WrongState
from app.kit.ids import new_id
from app.kit.objects import DOWNLOAD_CHUNK_BYTES, Objects, StoredObject

HEAD_BYTES: Final = 256 * 1024
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class HeadRow:
    number: int
    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class FileHead:
    rows: Sequence[HeadRow]
    is_text: bool
    has_more: bool


def file_head(head: bytes, count: int, *, is_all: bool) -> FileHead:
    whole = head if is_all else head.rpartition(b"\n")[0] or head
    try:
        _decoded(whole, is_cut=whole is head and not is_all)
    except UnicodeDecodeError:
        return FileHead((), is_text=False, has_more=False)
    if b"\x00" in head:
        return FileHead((), is_text=False, has_more=False)
    lines = head.removeprefix(_BOM).split(b"\n")
    found = [(number, line) for number, line in enumerate(lines, 1) if not is_blank(line)]
    rows = [
        HeadRow(number, line.decode(errors="replace"), is_cut=number == len(lines) and not is_all)
        for number, line in islice(found, count)
    ]
    return FileHead(rows, is_text=True, has_more=len(found) > count or not is_all)


def _decoded(head: bytes, *, is_cut: bool) -> str:
    """Decodes UTF-8. A text that was cut may end within a character of up to four bytes."""
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.start > len(head) - 4:
            return head[: error.start].decode()
        raise


MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_BLANK_LINES = 2 * MAX_TRAIN_EXAMPLES
"""A file of only line feeds would otherwise occupy a thread for minutes."""
JSONL_PURPOSES = frozenset({"fine-tune", "batch", "evals"})
_MAX_ROWS = {"fine-tune": MAX_TRAIN_EXAMPLES}


class _AnyObject(msgspec.Struct):
    """A JSON object with any keys."""


_read = msgspec.json.Decoder(_AnyObject).decode


class JsonlCheck:
    def __init__(self) -> None:
        self._pending = b""
        self._number = 0
        self._rows = 0
        self._blank = 0
        self._too_many_for: dict[str, int] = {}
        self._fault: InvalidRequest | None = None

    def feed(self, block: bytes) -> None:
        """Checks a block, in about 1 ms per MiB."""
        if self._fault is not None:
            return
        *lines, self._pending = (self._pending + block).split(b"\n")
        try:
            for line in lines:
                self._line(line)
            if len(self._pending) > MAX_LINE_BYTES:
                raise _too_long(self._number + 1)
        except InvalidRequest as fault:
            self._fault, self._pending = fault, b""

    def end(self) -> None:
        if self._fault is None and self._pending:
            last, self._pending = self._pending, b""
            try:
                self._line(last)
            except InvalidRequest as fault:
                self._fault = fault
        if self._fault is None and self._rows == 0:
            self._fault = InvalidRequest("The file is empty.", param="file", code="empty_file")

    def check(self, purpose: str) -> None:
        if purpose not in JSONL_PURPOSES:
            return
        limit, line = _MAX_ROWS.get(purpose), self._too_many_for.get(purpose)
        if line is not None:
            raise InvalidRequest(
                f"The file has more than {limit} examples. Line {line} is one too many.",
                param="file",
                code="too_many_examples",
            )
        if self._fault is not None:
            raise self._fault

    def _line(self, line: bytes) -> None:
        self._number += 1
        if is_blank(line):
            self._blank += 1
            if self._blank > MAX_BLANK_LINES:
                raise InvalidRequest(
                    f"The file has more than {MAX_BLANK_LINES} blank lines. Line {self._number} is "
                    "one too many. Remove blank lines.",
                    param="file",
                    code="invalid_jsonl",
                )
            return
        if len(line) > MAX_LINE_BYTES:
            raise _too_long(self._number)
        try:
            if not line.isascii():
                line.decode()
            _read(line.removeprefix(_BOM) if self._number == 1 else line)
        except UnicodeDecodeError:
            raise self._refused(line, "is not valid UTF-8") from None
        except msgspec.ValidationError:
            raise self._refused(line, "is not a dictionary") from None
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._refused(line, f"is not valid JSON: {error}") from None
        self._rows += 1
        for purpose, limit in _MAX_ROWS.items():
            if self._rows == limit + 1:
                self._too_many_for[purpose] = self._number

    def _refused(self, line: bytes, problem: str) -> InvalidRequest:
        shown = line[:40].decode("utf-8", errors="replace")
        return InvalidRequest(
            "Expected file to have JSONL format, where every line is a JSON dictionary. "
            f"Line {self._number} {problem} (HINT: line starts with: {shown!r}).",
            param="file",
            code="invalid_jsonl",
        )


def _too_long(number: int) -> InvalidRequest:
    return InvalidRequest(
        f"Line {number} is longer than {MAX_LINE_BYTES} bytes.", param="file", code="invalid_jsonl"
    )


async def checked_blocks(
    blocks: AsyncIterable[bytes], check: JsonlCheck, purpose: str | None
) -> AsyncIterator[bytes]:
    """Passes blocks on. Raises `InvalidRequest` at once if the purpose is known."""
    async for block in blocks:
        if purpose is None or purpose in JSONL_PURPOSES:
            await asyncio.to_thread(check.feed, block)
            if purpose is not None:
                check.check(purpose)
        yield block
    check.end()
    if purpose is not None:
        check.check(purpose)


Check = Callable[[UnitOfWork], Awaitable[None]]
BATCH_LIFETIME_S = 30 * 24 * 3600


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
        """`described` is called after the last byte; `before_insert` gets the SHA-256 and may
        refuse, as `within` may in the transaction. Raises `InvalidRequest`, `QuotaExceeded`.
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
        row, chunks = await self.content(file_id)
        head = bytearray()
        async with aclosing(chunks):
            async for chunk in chunks:
                head += chunk
                if len(head) >= HEAD_BYTES:
                    break
        return file_head(bytes(head[:HEAD_BYTES]), count, is_all=row.bytes <= HEAD_BYTES)

    async def delete(self, file_id: str) -> None:
        """Raises `WrongState` while a job needs the file: a resumed job reads it again."""
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
        """Removes the bytes of deleted files, which a failure may have left. Returns their ids."""
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
