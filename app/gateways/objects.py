"""Objects: datasets, checkpoints and adapters as files under keys.

A key is a relative POSIX path made by us, never a client's file name. Writes appear whole or not
at all; a full disk is a state of the service, not a fault of the caller.
"""

import errno
import hashlib
import os
import shutil
import time
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from uuid import uuid4

from anyio import to_thread

from app.domain.errors import TooLarge, Unavailable

_CHUNK_BYTES = 1 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class StoredObject:
    bytes: int
    sha256: str


class Objects(Protocol):
    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        """Store a stream under a new key. Raises `TooLarge` past `max_bytes` and `Unavailable` on a
        full disk; whatever is raised, by the stream too, nothing is left.
        """
        ...

    def read(self, key: str) -> AsyncIterator[bytes]:
        """Chunks of a stored object, in order. Raises `FileNotFoundError`."""
        ...

    async def delete(self, key: str) -> None:
        """Remove an object or a whole directory of them; a missing one is no error."""
        ...

    def local_path(self, key: str) -> Path:
        """Where engines and trainers find it on this machine's (or a shared) file system."""
        ...


class LocalObjects:
    """Objects in a local or shared directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def local_path(self, key: str) -> Path:
        parts = PurePosixPath(key).parts
        if not parts or PurePosixPath(key).is_absolute() or ".." in parts:
            raise ValueError(f"not an object key: {key!r}")
        return self._root.joinpath(*parts)

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        target = self.local_path(key)
        await to_thread.run_sync(lambda: target.parent.mkdir(parents=True, exist_ok=True))
        partial = target.with_name(f".{target.name}.{uuid4().hex}")
        digest, size = hashlib.sha256(), 0
        try:
            with partial.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    _check_size(size, max_bytes)
                    await to_thread.run_sync(_write, file, digest, chunk)
                await to_thread.run_sync(_flush, file)
            await to_thread.run_sync(_appear, partial, target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            if error.errno in _FULL:
                raise Unavailable("The service has no room for this file now.") from error
            raise
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return StoredObject(bytes=size, sha256=digest.hexdigest())

    async def read(self, key: str) -> AsyncIterator[bytes]:
        with self.local_path(key).open("rb") as file:
            while chunk := await to_thread.run_sync(file.read, _CHUNK_BYTES):
                yield chunk

    async def delete(self, key: str) -> None:
        await to_thread.run_sync(_remove, self.local_path(key))

    async def children(self, directory: str) -> list[tuple[str, float]]:
        """Keys right below a directory, writes that broke off among them, and the seconds since
        each was last written. None when there is no such directory.
        """
        return await to_thread.run_sync(_children, self.local_path(directory), directory)


class InMemoryObjects:
    """Twin without a disk: bytes by key. Has no local path to offer."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}

    def local_path(self, key: str) -> Path:
        raise NotImplementedError(f"{key} is only in memory")

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        content = b"".join([chunk async for chunk in chunks])
        _check_size(len(content), max_bytes)
        self.stored[key] = content
        return StoredObject(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())

    async def read(self, key: str) -> AsyncIterator[bytes]:
        if key not in self.stored:
            raise FileNotFoundError(key)
        yield self.stored[key]

    async def delete(self, key: str) -> None:
        for stored in [name for name in self.stored if name == key or name.startswith(f"{key}/")]:
            del self.stored[stored]


def _check_size(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise TooLarge(f"The file is larger than {max_bytes} bytes.", param="file")


def _write(file: BufferedWriter, digest: Any, chunk: bytes) -> None:
    digest.update(chunk)
    file.write(chunk)


def _flush(file: BufferedWriter) -> None:
    file.flush()
    os.fsync(file.fileno())


def _appear(partial: Path, target: Path) -> None:
    """Rename, and make the new name as durable as the row that will point to it."""
    partial.rename(target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _children(path: Path, directory: str) -> list[tuple[str, float]]:
    found, now = [], time.time()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    written = entry.stat(follow_symlinks=False).st_mtime
                except FileNotFoundError:  # somebody removed it just now
                    continue
                found.append((f"{directory}/{entry.name}", now - written))
    except FileNotFoundError:
        return []
    return found
