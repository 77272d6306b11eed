"""Reads plain files of a directory of untrusted origin.

Promises: a link, a pipe, a socket or a device is never opened, not even if it replaces a file
between two calls; every failure is a `BackupUnusable` that names the file.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

from app.disk.file_digests import sha256_of_open
from app.domain.processes.exit_codes import BACKUP_UNUSABLE
from app.embedded.errors import EmbeddedError

_CHUNK_BYTES: Final = 1 << 20
_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


class BackupUnusable(EmbeddedError):
    """A backup that is incomplete, altered, not signed, or of another version."""

    exit_code = BACKUP_UNUSABLE


def names(directory: Path) -> set[str]:
    """Returns the paths, below the directory, of all its files at any depth. Raises
    `BackupUnusable` for anything but files and directories.
    """
    found: set[str] = set()
    pending = [directory]
    while pending:
        with _failures(pending[-1]), os.scandir(pending.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                    continue
                if not entry.is_file(follow_symlinks=False):
                    raise _not_plain(path, entry.stat(follow_symlinks=False).st_mode)
                found.add(str(path.relative_to(directory)))
    return found


def content(path: Path, *, most_bytes: int) -> bytes:
    """Returns the content of a small file. Raises `FileNotFoundError` and `BackupUnusable`."""
    with open_backup_file(path) as file:
        found = file.read(most_bytes + 1)
    if len(found) > most_bytes:
        raise BackupUnusable(
            f"{path} is larger than {most_bytes} bytes: it is not a file of a backup"
        )
    return found


def sha256(path: Path) -> str:
    """Returns the digest of a file. Raises `FileNotFoundError` and `BackupUnusable`."""
    with open_backup_file(path) as file:
        return sha256_of_open(file)


def copy_private(source: Path, target: Path) -> str:
    """Copies a file, readable for its owner only. Returns the digest of the copied bytes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with open_backup_file(source) as file, target.open("xb") as copy:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
    target.chmod(0o400)
    return digest.hexdigest()


@contextmanager
def open_backup_file(path: Path) -> Iterator[BufferedReader]:
    """Opens a file for reading. Raises `FileNotFoundError`, and `BackupUnusable` for anything but
    a plain file that can be read.
    """
    with _failures(path):
        # Without a wait for the other end of a pipe; the kernel refuses a link.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise _not_plain(path, mode)
    with os.fdopen(handle, "rb") as file:
        yield file


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise _not_plain(path, stat.S_IFLNK) from error
        raise BackupUnusable(f"{path} cannot be read: {error.strerror}") from error


def _not_plain(path: Path, mode: int) -> BackupUnusable:
    kind = _KINDS.get(stat.S_IFMT(mode), "no plain file")
    return BackupUnusable(f"{path} is {kind}: a backup has plain files only")
