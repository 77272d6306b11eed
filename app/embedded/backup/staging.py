"""Freezes stored objects as hard links, so that they stay while the service continues.

Objects are never changed, only added and removed, so links of all objects that rows refer to at one
moment are a snapshot of the storage. Linking takes no time; the copy is made from the links
afterwards.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.domain.models.manifests import MANIFEST, ManifestMismatch, read_manifest
from app.embedded.backup.snapshot import NamedObjects

_NOTES: Final = ("start", "reference", "validation")
"""Directories that a run writes once and needs until it ends; see
`workers/runs/publisher.py`.
"""


def stage(objects: Path, named: NamedObjects, target: Path) -> frozenset[str]:
    """Links all named objects. Returns the keys that are missing, or that the service removed
    meanwhile.
    """
    missing = {key for key in named.needed if not _link(objects / key, target / key)}
    for job in named.jobs:
        for note in _NOTES:
            key = f"{job}/{note}"
            if (objects / key).is_dir() and not _link(objects / key, target / key):
                missing.add(key)
    return frozenset(missing)


def staged_files(target: Path) -> Iterator[tuple[str, Path]]:
    """Yields the path below the staging directory and the whole path of each file, in order."""
    for path in sorted(target.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(target)), path


def _link(source: Path, target: Path) -> bool:
    """Links one object. Returns False, and leaves no link, if a part of it is missing."""
    try:
        if not source.is_dir():
            _link_file(source, target)
            return True
        for path in source.rglob("*"):
            if path.is_file() and not _is_partial(path.relative_to(source)):
                _link_file(path, target / path.relative_to(source))
        if _is_whole(target):
            return True
    except (FileNotFoundError, NotADirectoryError):
        pass
    shutil.rmtree(target, ignore_errors=True)
    return False


def _is_whole(target: Path) -> bool:
    """Returns whether each directory has all files of its manifest: a removal takes them away one
    after another.
    """
    directories = {path.parent for path in target.rglob("*") if path.is_file()}
    try:
        return bool(directories) and all(
            {path.name for path in directory.iterdir()} - {MANIFEST}
            == read_manifest(directory.name, (directory / MANIFEST).read_bytes()).keys()
            for directory in directories
        )
    except (FileNotFoundError, ManifestMismatch):
        return False


def _is_partial(path: Path) -> bool:
    """Returns True for an unfinished write, whose name begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


def _link_file(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.exists():  # a key within another key's directory
        return
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
