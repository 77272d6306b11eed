"""File operations that the implementations share: durable names, links, removal."""

import errno
import os
import shutil
import stat
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol
from uuid import uuid4

import structlog

from app.kit.directories import FULL, MANIFEST, flush, plain_files
from app.kit.errors import NoFreeSpace, TooLarge

log = structlog.get_logger()

_UNLINKABLE: Final = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP})
"""Errors of a link to another file system, or on one without hard links."""
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def room_needed() -> Iterator[None]:
    """Converts errors of a full disk to `NoFreeSpace`."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise NoFreeSpace("The service has no room for this file now.") from error
        raise


def partial_of(path: Path) -> Path:
    """Returns a new path in the same directory, for a write that is renamed when it is complete."""
    return path.with_name(f".{path.name}.{uuid4().hex}.partial")


def link_or_copy(source: Path, destination: Path) -> None:
    """Creates a read-only file with the content of `source`, which becomes read-only if it is the
    same file under a second name.
    """
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
    if mode & _WRITABLE:
        with suppress(PermissionError):  # another user's file, whose permissions protect it
            path.chmod(stat.S_IMODE(mode) & ~_WRITABLE)


def committed_files(directory: Path) -> list[Path]:
    """Returns the files of a directory that is to be stored. Raises `ValueError` without a
    manifest, and `ManifestMismatch` for anything but a plain file.
    """
    files = plain_files(directory, name=directory.name)
    if MANIFEST not in {path.name for path in files}:
        raise ValueError(f"{directory.name} is not a committed directory")
    return files


def publish_file(partial: Path, target: Path) -> None:
    """Renames the file and flushes the directory, so that the new name is durable before a row
    references it.
    """
    partial.rename(target)
    flush(target.parent)


def rename_directory(partial: Path, destination: Path) -> None:
    """Renames a whole directory. Raises `FileExistsError` if another one was there first, which the
    system calls "not empty".
    """
    try:
        partial.rename(destination)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        raise FileExistsError(destination) from error


def remove(path: Path) -> None:
    """Removes a file or a directory tree. Files of a tree that cannot be removed only cost space,
    so they are logged and do not raise.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=_log_failure)
    else:
        path.unlink(missing_ok=True)


def _log_failure(_function: object, path: str, error: object) -> None:
    log.warning("leftover not removed", name=Path(path).name, error=repr(error))


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
    """One entry right below a directory."""

    key: str
    age_s: float | None
    """Seconds since an object was written; `None` for a directory."""
    bytes: int | None
    """Size of an object; `None` for a directory."""

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]


class Objects(Protocol):
    """Every method raises `ValueError` for a string that is not a key (see `key_parts`), and
    `Unavailable` while the storage is full or unavailable.
    """

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        """Stores a stream under a new key. Raises `TooLarge` past `max_bytes`. Nothing is stored
        when this, or the stream itself, raises.
        """
        ...

    def read(
        self, key: str, *, start: int = 0, chunk_bytes: int = CHUNK_BYTES
    ) -> AsyncGenerator[bytes, None]:
        """Yields a stored object in chunks of at most `chunk_bytes`, from its byte `start`, which
        it must have. Raises `FileNotFoundError`.
        """
        ...

    async def fetch(self, key: str, destination: Path) -> None:
        """Creates a read-only local file with the object's bytes. It may be a hard link into the
        storage, and survives a deletion of the object. Raises `FileNotFoundError`.
        """
        ...

    async def put_directory(self, key: str, directory: Path) -> None:
        """Stores the files of a committed directory (plain files and their `manifest.json`) under
        a new key. Readers see all files or none. `directory` must not change afterwards; its files
        may become read-only.

        Raises `FileExistsError` if the key exists, because a version is never overwritten, and
        `ManifestMismatch` for anything but a plain file: a link, a pipe, a directory.
        """
        ...

    async def fetch_directory(self, key: str, destination: Path) -> None:
        """Creates a local copy of a stored directory, atomically and with the promises of `fetch`.

        Raises `FileNotFoundError`, `FileExistsError` if `destination` exists, and
        `ManifestMismatch` if the files differ from the stored ones.
        """
        ...

    async def delete(self, key: str) -> None:
        """Removes an object, or all objects below a directory; a missing one is not an error."""
        ...

    async def children(self, directory: str) -> list[StoredChild]:
        """Returns the objects and directories directly below a directory, in order of key.

        A storage on a disk also returns interrupted writes, whose names start with a dot, and any
        storage may return a directory that has just become empty.
        """
        ...


async def put_bytes(objects: Objects, key: str, content: bytes) -> StoredObject:
    """Stores bytes that are in memory."""

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    return await objects.put(key, chunks())


def key_parts(key: str) -> tuple[str, ...]:
    """Returns the parts of a key. Raises `ValueError` for one that would leave the root, or that
    some storage could not have: too long, with a NUL, or not encodable as UTF-8.
    """
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
    """Returns the one spelling of a key: `a//b/./c/` is `a/b/c`. Raises as `key_parts`."""
    return "/".join(key_parts(key))


def _size(name: str) -> int:
    try:
        return len(name.encode())
    except UnicodeEncodeError:
        raise ValueError(f"not an object key: {name[:MAX_KEY_BYTES]!r}") from None


def check_size(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise TooLarge(f"The file is larger than {max_bytes} bytes.", param="file")
