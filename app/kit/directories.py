"""Directories with a manifest that are written atomically, digests of files, and free space.

A committed directory survives a power failure only in object storage (`Objects.put_directory`).
"""

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final, Self
from uuid import uuid4

from app.kit.errors import AgentRftError, NoFreeSpace
from app.settings import Settings

MANIFEST: Final = "manifest.json"


class ManifestMismatch(AgentRftError):
    """A committed directory differs from its manifest."""


def read_manifest(directory: str, content: bytes) -> dict[str, str]:
    """Returns the digests by file name. Raises `ManifestMismatch` unless `content` is a manifest of
    plain file names; `directory` names the directory in the message.
    """
    try:
        digests = json.loads(content)["sha256"]
        items = {str(name): str(digest) for name, digest in digests.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ManifestMismatch(f"{directory} has no readable manifest: {error}") from error
    if any("/" in name or name in ("", ".", "..", MANIFEST) for name in items):
        raise ManifestMismatch(f"{directory} has a manifest with a path in it")
    return items


def check_digests(directory: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    if found != expected:
        wrong = sorted({name for name, _ in expected.items() ^ found.items()})
        raise ManifestMismatch(f"{directory} differs from its manifest in {wrong}")


@contextmanager
def commit_directory(destination: Path) -> Iterator[Path]:
    """Yields an empty directory, which becomes `destination` at the end of the block, or is removed
    if that raises. Raises `FileExistsError`: a version is never overwritten.
    """
    if destination.exists():
        raise FileExistsError(destination)
    destination.parent.mkdir(parents=True, exist_ok=True)
    partial = destination.parent / f".{destination.name}.{uuid4().hex}.partial"
    partial.mkdir()
    try:
        yield partial
        manifest = json.dumps({"sha256": _digests(partial)}, indent=2, sort_keys=True) + "\n"
        (partial / MANIFEST).write_text(manifest, encoding="utf-8")
        partial.rename(destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def verify_directory(directory: Path) -> None:
    try:
        content = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise ManifestMismatch(f"{directory.name} has no readable manifest: {error}") from error
    check_digests(directory.name, read_manifest(directory.name, content), _digests(directory))


def directory_digest(directory: Path) -> str:
    return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    return {
        path.name: sha256_of(path) for path in sorted(directory.iterdir()) if path.name != MANIFEST
    }


FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def plain_files(directory: Path, *, name: str) -> list[Path]:
    paths = sorted(directory.iterdir())
    for path in paths:
        if not is_plain(path):
            raise ManifestMismatch(
                f"{name} differs from its manifest: {path.name} is not a plain file"
            )
    return paths


def check_directory(directory: Path, *, name: str) -> None:
    try:
        files = {path.name: path for path in plain_files(directory, name=name)}
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(name) from None
    manifest = files.pop(MANIFEST, None)
    expected = read_manifest(name, b"" if manifest is None else manifest.read_bytes())
    check_digests(name, expected, {file: sha256_of(path) for file, path in files.items()})


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of_open(file)


def sha256_of_open(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def free_bytes(path: Path) -> int:
    """Returns the free bytes of the disk that has `path`, or would have it once it is created."""
    nearest = next(parent for parent in (path, *path.parents) if parent.exists())
    return shutil.disk_usage(nearest).free


class FreeSpace:
    def __init__(
        self, *paths: Path, minimum_bytes: int, measure: Callable[[Path], int] = free_bytes
    ) -> None:
        self._paths = [path.absolute() for path in paths]
        self._minimum_bytes, self._measure = minimum_bytes, measure

    @classmethod
    def of(cls, settings: Settings) -> Self:
        paths = [settings.data_dir, settings.work_dir]
        if settings.objects is None:
            paths.append(settings.objects_dir)
        return cls(*paths, minimum_bytes=settings.min_free_bytes)

    def lacks(self, *, more_bytes: int = 0) -> bool:
        """True while a disk has less than the minimum and `more_bytes`, or cannot be read."""
        needed = self._minimum_bytes + more_bytes
        try:
            return any(self._measure(path) < needed for path in self._paths)
        except OSError:
            return True

    def check(self) -> None:
        if self.lacks():
            raise NoFreeSpace(
                f"The service has less than {self._minimum_bytes / 1e6:.0f} MB of free disk "
                "space and accepts no new data until an operator frees some. Retry later."
            )
