"""File operations that the implementations share: durable writes, links, digests, removal."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

import structlog

from app.domain.errors import NoFreeSpace
from app.domain.models.manifests import MANIFEST, ManifestMismatch, check_digests, read_manifest
from app.file_digests import sha256_of

log = structlog.get_logger()

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk or a quota without space."""
_UNLINKABLE: Final = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP})
"""Another file system, or one without hard links."""
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def room_needed() -> Iterator[None]:
    """Turns a full disk into `NoFreeSpace`."""
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
    """Takes the write permissions of a file away, of which a second name may be a stored object."""
    mode = path.stat().st_mode
    if mode & _WRITABLE:
        with suppress(PermissionError):  # another user's file, whose permissions protect it
            path.chmod(stat.S_IMODE(mode) & ~_WRITABLE)


def is_plain(path: Path) -> bool:
    """Returns true for a file that exists and is no link, pipe, device or directory."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def plain_files(directory: Path, *, name: str) -> list[Path]:
    """Returns the files of a committed directory, in order of name. Raises `ManifestMismatch` for
    anything but a plain file; `name` names the directory in the message.
    """
    paths = sorted(directory.iterdir())
    for path in paths:
        if not is_plain(path):
            raise ManifestMismatch(
                f"{name} differs from its manifest: {path.name} is not a plain file"
            )
    return paths


def committed_files(directory: Path) -> list[Path]:
    """Returns the files of a directory that is to be stored. Raises `ValueError` without a
    manifest, and `ManifestMismatch` for anything but a plain file.
    """
    files = plain_files(directory, name=directory.name)
    if MANIFEST not in {path.name for path in files}:
        raise ValueError(f"{directory.name} is not a committed directory")
    return files


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


def check_directory(directory: Path, *, name: str) -> None:
    """Checks a directory against its manifest. Raises `FileNotFoundError` if it does not exist,
    `ManifestMismatch` if it is damaged.
    """
    try:
        files = {path.name: path for path in plain_files(directory, name=name)}
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(name) from None
    manifest = files.pop(MANIFEST, None)
    expected = read_manifest(name, b"" if manifest is None else manifest.read_bytes())
    actual = {file: sha256_of(path) for file, path in files.items()}
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
