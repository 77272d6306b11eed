"""Directories with a manifest, which appear whole or not at all.

Owns the way such a directory is written: beside its place, then renamed. A committed directory
never changes. It outlives a power failure only once object storage has it
(`Objects.put_directory`). Must not know what is in it.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from app.domain.data.manifests import (
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
    """Yields an empty directory to write plain files into; on leaving, it becomes `destination`.

    Nothing is left when the block raises; a kill leaves at most a `.partial` neighbour. Raises
    `FileExistsError` if the destination exists: a version is never overwritten.
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
    """Raises `ManifestMismatch` unless the files are exactly those that were committed."""
    try:
        content = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise ManifestMismatch(f"{directory.name} has no readable manifest: {error}") from error
    check_digests(directory.name, read_manifest(directory.name, content), _digests(directory))


def directory_digest(directory: Path) -> str:
    """Returns a digest that is the same for the same files, whenever they were written."""
    return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
        if path.name != MANIFEST
    }
