"""File operations that the implementations share: durable names, links, removal."""

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

from app.disk.model_directories import FULL, flush, plain_files
from app.domain.errors import NoFreeSpace
from app.domain.models.manifests import MANIFEST

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
