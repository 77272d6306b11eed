"""Objects in a local directory, or in one that several machines share.

Stored objects survive a power failure: files and names are flushed before a call returns. An object
is a plain file: links in the directory are not followed. Fetches and stored directories are hard
links if the file system supports them, so that they need neither time nor space; stored files are
therefore read-only.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any, Final

from anyio import to_thread

from app.kit.directories import check_directory, flush, is_plain
from app.kit.disks import FreeSpace
from app.kit.objects import (
    CHUNK_BYTES,
    Objects,
    StoredChild,
    StoredObject,
    check_size,
    committed_files,
    key_parts,
    link_or_copy,
    make_read_only,
    normalised_key,
    partial_of,
    publish_file,
    remove,
    rename_directory,
    room_needed,
)
from app.settings import Settings


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
            _make_parent(target)

    def _write(self, file: BufferedWriter, digest: Any, chunk: bytes) -> None:
        """Writes a chunk. Checks the free space again, so that a large file cannot use up the
        minimum.
        """
        self._space.check()
        digest.update(chunk)
        file.write(chunk)

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*key_parts(key))


def _make_parent(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _finish(file: BufferedWriter, path: Path) -> None:
    file.flush()
    make_read_only(path)
    os.fsync(file.fileno())


def _check_plain(path: Path) -> None:
    if not is_plain(path):
        raise FileNotFoundError(path.name)


def _fetch(source: Path, destination: Path) -> None:
    _check_plain(source)
    _make_parent(destination)
    with room_needed():
        link_or_copy(source, destination)


def _put_directory(directory: Path, target: Path) -> None:
    files = committed_files(directory)
    if target.exists():
        raise FileExistsError(target.name)
    partial = partial_of(target)
    try:
        with room_needed():
            partial.mkdir()
            for file in files:
                link_or_copy(file, partial / file.name)
                flush(partial / file.name)
            flush(partial)
            publish_file(partial, target)
    except BaseException:
        remove(partial)
        raise


def _fetch_directory(source: Path, destination: Path, key: str) -> None:
    check_directory(source, name=key)
    if destination.exists():
        raise FileExistsError(destination)
    _make_parent(destination)
    partial = partial_of(destination)
    try:
        with room_needed():
            partial.mkdir()
            for file in source.iterdir():
                link_or_copy(file, partial / file.name)
            rename_directory(partial, destination)
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
    """Yields a file with the object's bytes, which is removed at the end; a reader that has it open
    can continue. Raises `FileNotFoundError` and `Unavailable`.
    """
    async with work_directory(work_dir) as directory:
        path = directory / key.rpartition("/")[2]
        await objects.fetch(key, path)
        yield path


@asynccontextmanager
async def work_directory(work_dir: Path) -> AsyncIterator[Path]:
    """Yields an empty directory, which is removed at the end."""
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
