"""Directories that are there whole or not at all.

Owns `manifest.json` and the way a directory comes to be: written beside its place, every file
flushed to disk, then renamed. A committed directory never changes. Must not know what is in it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from app.domain.errors import AgentRftError

MANIFEST: Final = "manifest.json"


class ManifestMismatch(AgentRftError):
    """A committed directory is not what was written."""


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
        _write_manifest(partial)
        for path in (*sorted(partial.iterdir()), partial):
            _flush(path)
        partial.rename(destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    _flush(destination.parent)


def verify_directory(directory: Path) -> None:
    """Raises `ManifestMismatch` unless the files are exactly those that were committed."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        expected: dict[str, str] = dict(manifest["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestMismatch(f"{directory.name} has no readable manifest: {error}") from error
    found = _digests(directory)
    if found != expected:
        wrong = sorted(name for name, _ in expected.items() ^ found.items())
        raise ManifestMismatch(f"{directory.name} differs from its manifest in {sorted({*wrong})}")


def directory_digest(directory: Path) -> str:
    """Digest of a committed directory: equal for equal files, whenever they were written."""
    return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()


def _write_manifest(directory: Path) -> None:
    text = json.dumps({"sha256": _digests(directory)}, indent=2, sort_keys=True)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _digests(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
        if path.name != MANIFEST
    }


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
