"""The storage of objects, and its implementation in a directory, which machines may share.

Stored objects survive a power failure: files and names are flushed before a call returns. An object
is a plain file: links in the directory are not followed. Fetches and stored directories are hard
links if the file system supports them, so that they need neither time nor space; stored files are
therefore read-only.
"""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol
from uuid import uuid4

import structlog
from anyio import to_thread

from app.kit.directories import (
    FULL,
    MANIFEST,
    FreeSpace,
    check_directory,
    flush,
    is_plain,
    plain_files,
)
from app.kit.errors import NoFreeSpace, TooLarge
from app.settings import Settings

log = structlog.get_logger()

_UNLINKABLE: Final = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP})
"""Errors of a link to another file system, or on one without hard links."""


@contextmanager
def room_needed() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise NoFreeSpace("The service has no room for this file now.") from error
        raise


def partial_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid4().hex}.partial")


def link_or_copy(source: Path, destination: Path) -> None:
    """Creates a read-only file; `source` becomes read-only, too, if it is the same file."""
    try:
        os.link(source, destination)
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        shutil.copyfile(source, destination)
    make_read_only(destination)


def make_read_only(path: Path) -> None:
    """Removes the write permissions of a file, because a hard link to it may be a stored object."""
    mode = path.stat().st_mode
    with suppress(PermissionError):  # another user's file, whose permissions protect it
        path.chmod(stat.S_IMODE(mode) & ~0o222)


def committed_files(directory: Path) -> list[Path]:
    """Raises `ValueError` without a manifest, `ManifestMismatch` for what is no plain file."""
    files = plain_files(directory, name=directory.name)
    if MANIFEST not in {path.name for path in files}:
        raise ValueError(f"{directory.name} is not a committed directory")
    return files


def publish_file(partial: Path, target: Path) -> None:
    """Makes the new name durable before a row references it."""
    partial.rename(target)
    flush(target.parent)


def rename_directory(partial: Path, destination: Path) -> None:
    """Raises `FileExistsError` if another one was there, which the system calls "not empty"."""
    try:
        partial.rename(destination)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        raise FileExistsError(destination) from error


def remove(path: Path) -> None:
    """Removes a file or a tree. Leftovers of a tree only cost space, so they are logged."""

    def log_failure(_function: object, path: str, error: object) -> None:
        log.warning("leftover not removed", name=Path(path).name, error=repr(error))

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=log_failure)
    else:
        path.unlink(missing_ok=True)


CHUNK_BYTES: Final = 1 << 20
DOWNLOAD_CHUNK_BYTES: Final = 32 << 10
"""Chunk of a download. Two of them are in memory while a client does not read."""
MAX_KEY_BYTES: Final = 800
"""Longest key in bytes: S3 allows 1,024, including the bucket's prefix."""
MAX_NAME_BYTES: Final = 200
"""Longest name in bytes: a file system allows 255, including the suffix of an unfinished write."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StoredChild:
    key: str
    age_s: float | None
    """Seconds since an object was written; `None` for a directory."""
    bytes: int | None
    """Size of an object; `None` for a directory."""

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]


class Objects(Protocol):
    """Raises `ValueError` for what is no key (`key_parts`), `Unavailable` without storage."""

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        """Stores a whole stream under a new key, or nothing. Raises `TooLarge` past `max_bytes`."""
        ...

    def read(
        self, key: str, *, start: int = 0, chunk_bytes: int = CHUNK_BYTES
    ) -> AsyncGenerator[bytes, None]:
        """Yields the bytes from `start`, which the object must have. Raises `FileNotFoundError`."""
        ...

    async def fetch(self, key: str, destination: Path) -> None:
        """Creates a read-only file, which survives the object. Raises `FileNotFoundError`."""
        ...

    async def put_directory(self, key: str, directory: Path) -> None:
        """Stores a committed directory, all files or none, under a new key. `directory` must not
        change afterwards; its files may become read-only. Raises `FileExistsError`, because a
        version is never overwritten, and `ManifestMismatch` for anything but a plain file.
        """
        ...

    async def fetch_directory(self, key: str, destination: Path) -> None:
        """Creates a local copy of a stored directory, atomically. Raises `FileNotFoundError`,
        `FileExistsError`, and `ManifestMismatch` if the files differ from the stored ones.
        """
        ...

    async def delete(self, key: str) -> None:
        """Removes an object, or all objects below a directory; a missing one is not an error."""
        ...

    async def children(self, directory: str) -> list[StoredChild]:
        """Returns what is directly below a directory, by key, with interrupted writes (dotted)."""
        ...


async def put_bytes(objects: Objects, key: str, content: bytes) -> StoredObject:
    async def chunks() -> AsyncIterator[bytes]:
        yield content

    return await objects.put(key, chunks())


def key_parts(key: str) -> tuple[str, ...]:
    """Raises `ValueError` for a key that leaves the root, or that some storage could not have."""
    path = PurePosixPath(key)
    if (
        not path.parts
        or path.is_absolute()
        or ".." in path.parts
        or "\0" in key
        or _size(key) > MAX_KEY_BYTES
        or any(_size(part) > MAX_NAME_BYTES for part in path.parts)
    ):
        raise ValueError(f"not an object key: {key[:MAX_KEY_BYTES]!r}")
    return path.parts


def normalised_key(key: str) -> str:
    return "/".join(key_parts(key))


def _size(name: str) -> int:
    try:
        return len(name.encode())
    except UnicodeEncodeError:
        raise ValueError(f"not an object key: {name[:MAX_KEY_BYTES]!r}") from None


def check_size(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise TooLarge(f"The file is larger than {max_bytes} bytes.", param="file")


class LocalObjects:
    """Implements `Objects`. Refuses to store anything while there is too little `space`."""

    def __init__(self, root: Path, *, space: FreeSpace | None = None) -> None:
        self._root = root
        self._space = FreeSpace(root, minimum_bytes=0) if space is None else space

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        target = self._path(key)
        await to_thread.run_sync(self._prepare, target)
        partial = partial_of(target)
        digest, size = hashlib.sha256(), 0
        try:
            with room_needed():
                with partial.open("xb") as file:
                    async for chunk in chunks:
                        size += len(chunk)
                        check_size(size, max_bytes)
                        await to_thread.run_sync(self._write, file, digest, chunk)
                    await to_thread.run_sync(_finish, file, partial)
                await to_thread.run_sync(publish_file, partial, target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return StoredObject(bytes=size, sha256=digest.hexdigest())

    async def read(
        self, key: str, *, start: int = 0, chunk_bytes: int = CHUNK_BYTES
    ) -> AsyncGenerator[bytes, None]:
        path = self._path(key)
        await to_thread.run_sync(_check_plain, path)
        with path.open("rb") as file:
            file.seek(start)
            while chunk := await to_thread.run_sync(file.read, chunk_bytes):
                yield chunk

    async def fetch(self, key: str, destination: Path) -> None:
        await to_thread.run_sync(_fetch, self._path(key), destination)

    async def put_directory(self, key: str, directory: Path) -> None:
        target = self._path(key)
        await to_thread.run_sync(self._prepare, target)
        await to_thread.run_sync(_put_directory, directory, target)

    async def fetch_directory(self, key: str, destination: Path) -> None:
        await to_thread.run_sync(_fetch_directory, self._path(key), destination, key)

    async def delete(self, key: str) -> None:
        await to_thread.run_sync(remove, self._path(key))

    async def children(self, directory: str) -> list[StoredChild]:
        return await to_thread.run_sync(_children, self._path(directory), normalised_key(directory))

    def _prepare(self, target: Path) -> None:
        self._space.check()
        with room_needed():
            target.parent.mkdir(parents=True, exist_ok=True)

    def _write(self, file: BufferedWriter, digest: Any, chunk: bytes) -> None:
        self._space.check()  # again, so that a large file cannot use up the minimum
        digest.update(chunk)
        file.write(chunk)

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*key_parts(key))


def _finish(file: BufferedWriter, path: Path) -> None:
    file.flush()
    make_read_only(path)
    os.fsync(file.fileno())


def _check_plain(path: Path) -> None:
    if not is_plain(path):
        raise FileNotFoundError(path.name)


def _fetch(source: Path, destination: Path) -> None:
    _check_plain(source)
    destination.parent.mkdir(parents=True, exist_ok=True)
    with room_needed():
        link_or_copy(source, destination)


def _put_directory(directory: Path, target: Path) -> None:
    files = committed_files(directory)
    if target.exists():
        raise FileExistsError(target.name)
    with _partial_directory(target) as partial:
        for file in files:
            link_or_copy(file, partial / file.name)
            flush(partial / file.name)
        flush(partial)
        publish_file(partial, target)


def _fetch_directory(source: Path, destination: Path, key: str) -> None:
    check_directory(source, name=key)
    if destination.exists():
        raise FileExistsError(destination)
    destination.parent.mkdir(parents=True, exist_ok=True)
    with _partial_directory(destination) as partial:
        for file in source.iterdir():
            link_or_copy(file, partial / file.name)
        rename_directory(partial, destination)


@contextmanager
def _partial_directory(destination: Path) -> Iterator[Path]:
    partial = partial_of(destination)
    try:
        with room_needed():
            partial.mkdir()
            yield partial
    except BaseException:
        remove(partial)
        raise


def _children(path: Path, directory: str) -> list[StoredChild]:
    children, now = [], time.time()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # removed concurrently
                    continue
                key = f"{directory}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    children.append(StoredChild(key, None, None))
                else:
                    children.append(StoredChild(key, now - found.st_mtime, found.st_size))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(children, key=lambda child: child.key)


def build_objects(settings: Settings) -> Objects:
    if settings.objects is None:
        return LocalObjects(settings.objects_dir, space=FreeSpace.of(settings))
    from app.kit.s3_objects import open_bucket  # noqa: PLC0415 - needs an optional library

    return open_bucket(settings.objects)


_PREFIX: Final = "fetched-"
_STALE_S: Final = 24 * 3600.0
"""Age in seconds above which a file belongs to a killed process: no reader takes this long."""


@asynccontextmanager
async def local_copy(objects: Objects, key: str, work_dir: Path) -> AsyncIterator[Path]:
    async with work_directory(work_dir) as directory:
        path = directory / key.rpartition("/")[2]
        await objects.fetch(key, path)
        yield path


@asynccontextmanager
async def work_directory(work_dir: Path) -> AsyncIterator[Path]:
    directory = await to_thread.run_sync(_new_directory, work_dir)
    try:
        yield directory
    finally:
        await to_thread.run_sync(lambda: shutil.rmtree(directory, ignore_errors=True))


def _new_directory(work_dir: Path) -> Path:
    work_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in work_dir.glob(f"{_PREFIX}*"):
        try:
            stale = time.time() - old.stat().st_mtime > _STALE_S
        except FileNotFoundError:  # removed concurrently by its reader
            continue
        if stale:
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=work_dir))
