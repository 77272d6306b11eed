"""Directories with a manifest that are written atomically.

Owns the steps of a commit: files are written to a temporary directory beside the destination, which
is then renamed. A committed directory never changes. It survives a power failure only after it was
copied to object storage (`Objects.put_directory`). Must not know the contents.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from app.disk.file_digests import sha256_of
from app.domain.models.manifests import (
    MANIFEST,
    ManifestMismatch,
    check_digests,
    manifest_text,
    read_manifest,
)

__all__ = [
    "MANIFEST",
    "ManifestMismatch",
    "commit_directory",
    "directory_digest",
    "verify_directory",
]


@contextmanager
def commit_directory(destination: Path) -> Iterator[Path]:
    """Yields an empty directory for plain files; at the end of the block it becomes `destination`.

    If the block raises, the directory is removed; a killed process may leave a `.partial` directory
    beside the destination. Raises `FileExistsError` if the destination exists: a version is never
    overwritten.
    """
    if destination.exists():
        raise FileExistsError(destination)
    destination.parent.mkdir(parents=True, exist_ok=True)
    partial = destination.parent / f".{destination.name}.{uuid4().hex}.partial"
    partial.mkdir()
    try:
        yield partial
        (partial / MANIFEST).write_text(manifest_text(_digests(partial)), encoding="utf-8")
        partial.rename(destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def verify_directory(directory: Path) -> None:
    """Checks a directory. Raises `ManifestMismatch` if its files differ from those committed."""
    try:
        content = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise ManifestMismatch(f"{directory.name} has no readable manifest: {error}") from error
    check_digests(directory.name, read_manifest(directory.name, content), _digests(directory))


def directory_digest(directory: Path) -> str:
    """Returns the digest of a committed directory, a function of file names and contents."""
    return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    return {
        path.name: sha256_of(path) for path in sorted(directory.iterdir()) if path.name != MANIFEST
    }
