"""Directories of a model's files on a disk: checks against the manifest, and durable writes.

Below all rooms, because the stores of objects and the downloads of the command line check the same
directories. Must not know the origin of a directory.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

from app.disk.file_digests import sha256_of
from app.domain.models.manifests import MANIFEST, ManifestMismatch, check_digests, read_manifest

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk or a quota without space."""


def flush(path: Path) -> None:
    """Flushes a file, or the entries of a directory, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_plain(path: Path) -> bool:
    """Returns true for a file that exists and is not a link, pipe, device or directory."""
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
