"""The protocol of object storage, and the checks that every implementation makes.

A key is a relative POSIX path that the service generates, never a client's file name. Writes of
objects and directories are atomic. Must not know the content of objects.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from app.domain.errors import TooLarge

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
