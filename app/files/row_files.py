"""Reads and writes files of rows; reading is bounded: a small file can claim a large content."""

import json
import os
import resource
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from anyio import BrokenWorkerProcess, CapacityLimiter, fail_after, to_process

from app.files.files import TRAINING, FileRow, NewFile
from app.files.rows import is_blank
from app.files.service import Check, FileService
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, RequestError, Unavailable
from app.kit.fields import Json
from app.kit.objects import Objects, local_copy, work_directory
from app.kit.slots import SharedSlots

Result = TypeVar("Result")
MAX_ADDED_BYTES: Final = 1 << 30
"""Memory beyond that at the start of a read: four times the content of the largest Parquet file."""
_STATUS: Final = Path("/proc/self/status")
_NICENESS: Final = 10


def with_bounded_memory(
    max_added_bytes: int, read: Callable[..., Result], *arguments: object
) -> Result:
    """Runs at low priority, for requests come first. Raises a plain `MemoryError`: the type of a
    library may not be picklable.
    """
    os.nice(max(0, _NICENESS - os.nice(0)))
    # Arrow's own allocator takes 1 GiB at its first use: all that a read may have.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        with _limit(max_added_bytes):
            return read(*arguments)
    except MemoryError:
        pass
    raise MemoryError


@contextmanager
def _limit(added: int) -> Iterator[None]:
    """Limits writable memory: address space would count reservations, as of threads."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _data_bytes() + added
    resource.setrlimit(resource.RLIMIT_DATA, (_lower(_lower(most, soft), hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _lower(one: int, other: int) -> int:
    return one if other == resource.RLIM_INFINITY else min(one, other)


def _data_bytes() -> int:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


_BOM: Final = b"\xef\xbb\xbf"


class RowsTooFar(Exception):
    """The rows are beyond the bytes that may be read."""


@dataclass(frozen=True, slots=True)
class FileLine:
    content: bytes
    number: int


async def rows_at(
    chunks: AsyncGenerator[bytes, None], wanted: Iterable[int], *, max_bytes: int | None = None
) -> dict[int, FileLine]:
    """Returns the wanted rows, reads no further, and closes `chunks`. Raises `RowsTooFar`."""
    missing, found, row = set(wanted), dict[int, FileLine](), 0
    async with aclosing(chunks), aclosing(lines_of(chunks, max_bytes=max_bytes)) as lines:
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


async def lines_of(
    chunks: AsyncIterator[bytes], *, max_bytes: int | None = None
) -> AsyncGenerator[FileLine, None]:
    """Yields the lines without their ends. Raises `RowsTooFar` after `max_bytes`."""
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
        """`file_id` is an id noted before; `within` may refuse in the transaction of the row."""
        return await self.store(_jsonl(rows), name, file_id=file_id, within=within)

    async def store(
        self,
        blocks: AsyncIterable[bytes],
        name: str,
        *,
        file_id: str | None = None,
        within: Check | None = None,
    ) -> FileRow:
        new = NewFile(name, TRAINING, None)
        return await self._files.upload(
            blocks, purpose=TRAINING, described=lambda: new, file_id=file_id, within=within
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


Report = TypeVar("Report")
_TIMEOUT_S: Final = 120.0
_AT_ONCE: Final = 3


class Inspections:
    """Limits concurrent reads of all tenants: one for each project, and a small total."""

    def __init__(
        self,
        objects: Objects,
        work_dir: Path,
        *,
        at_once: int = _AT_ONCE,
        max_added_bytes: int = MAX_ADDED_BYTES,
    ) -> None:
        self._objects, self._work_dir = objects, work_dir
        self._max_added_bytes = max_added_bytes
        self.slots = SharedSlots(at_once, of_organization=max(1, at_once - 1))
        self._processes = CapacityLimiter(at_once)
        """As many processes as slots, so that no caller with a slot waits."""

    @asynccontextmanager
    async def copy(self, key: str, *, gone: InvalidRequest | None = None) -> AsyncIterator[Path]:
        """Yields a local file for `run`. Raises `gone` if there is no such object."""
        async with AsyncExitStack() as stack:
            try:
                copy = local_copy(self._objects, key, self._work_dir)
                path = await stack.enter_async_context(copy)
            except FileNotFoundError as error:
                raise gone or content_gone() from error
            yield path

    @asynccontextmanager
    async def workspace(self) -> AsyncIterator[Path]:
        """Yields an empty directory for files that `run` reads or writes, removed at the end."""
        async with work_directory(self._work_dir) as directory:
            yield directory

    @asynccontextmanager
    async def copies(self, keys: Iterable[str | None]) -> AsyncIterator[list[Path | None]]:
        """Yields local files as `copy` does, `None` for each `None`. Raises `InvalidRequest`."""
        async with AsyncExitStack() as stack:
            yield [
                None if key is None else await stack.enter_async_context(self.copy(key))
                for key in keys
            ]

    async def run(self, tenant: Tenant, read: Callable[..., Report], *arguments: object) -> Report:
        with _as_answers(), fail_after(_TIMEOUT_S):
            async with self.slots.taken(tenant.organization_id, tenant.project_id):
                return await to_process.run_sync(
                    with_bounded_memory,
                    self._max_added_bytes,
                    read,
                    *arguments,
                    cancellable=True,
                    limiter=self._processes,
                )


@contextmanager
def _as_answers() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise Unavailable("The files took too long to read; try again later.") from error
    except BrokenWorkerProcess as error:
        raise Unavailable("The files could not be read; try again later.") from error
    except MemoryError as error:
        raise InvalidRequest("A file needs too much memory to be read.") from error
    except OSError as error:
        raise content_gone() from error


def content_gone() -> InvalidRequest:
    message = "The content of a file is gone: upload the file again."
    return InvalidRequest(message, param="training_file")
