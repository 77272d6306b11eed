"""File operations that the implementations share: durable writes, links, digests, removal."""

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog

from app.domain.data.manifests import MANIFEST, check_digests, read_manifest
from app.domain.errors import Unavailable
from app.gateways.objects.objects import CHUNK_BYTES

log = structlog.get_logger()

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_UNLINKABLE: Final = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP})
"""Another file system, or one without hard links."""


@contextmanager
def room_needed() -> Iterator[None]:
    """Turns a full disk into `Unavailable`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise Unavailable("The service has no room for this file now.") from error
        raise


def partial_of(path: Path) -> Path:
    """Returns a new path in the same directory, for a write that is renamed when it is complete."""
    return path.with_name(f".{path.name}.{uuid4().hex}.partial")


def link_or_copy(source: Path, destination: Path) -> None:
    try:
        os.link(source, destination)
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        shutil.copyfile(source, destination)


def appear(partial: Path, target: Path) -> None:
    """Renames the file and flushes the directory, so that the new name is durable before a row
    references it.
    """
    partial.rename(target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Flushes a file, or the entries of a directory, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def check_directory(directory: Path, *, name: str) -> None:
    """Checks a directory against its manifest. Raises `FileNotFoundError` if it does not exist,
    `ManifestMismatch` if it is damaged.
    """
    try:
        expected = read_manifest(name, (directory / MANIFEST).read_bytes())
    except FileNotFoundError:
        if not directory.is_dir():
            raise FileNotFoundError(name) from None
        expected = read_manifest(name, b"")
    actual = {path.name: sha256_of(path) for path in directory.iterdir() if path.name != MANIFEST}
    check_digests(name, expected, actual)


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
