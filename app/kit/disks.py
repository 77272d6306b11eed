"""Computes the SHA-256 of files, for manifests, downloads and backups.

Below all rooms of both planes, because each of them checks files.
"""

import hashlib
import shutil
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Self

from app.kit.errors import NoFreeSpace
from app.settings import Settings


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of_open(file)


def sha256_of_open(file: BufferedReader) -> str:
    """Hashes the file from its current position to its end."""
    return hashlib.file_digest(file, "sha256").hexdigest()


_MEGABYTE = 1_000_000


def free_bytes(path: Path) -> int:
    """Returns the free bytes of the disk that has `path`, or would have it once it is created."""
    nearest = next(parent for parent in (path, *path.parents) if parent.exists())
    return shutil.disk_usage(nearest).free


class FreeSpace:
    def __init__(
        self, *paths: Path, minimum_bytes: int, measure: Callable[[Path], int] = free_bytes
    ) -> None:
        self._paths = [path.absolute() for path in paths]
        self._minimum_bytes = minimum_bytes
        self._measure = measure

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Returns the check of all directories of an installation."""
        paths = [settings.data_dir, settings.work_dir]
        if settings.objects is None:
            paths.append(settings.objects_dir)
        return cls(*paths, minimum_bytes=settings.min_free_bytes)

    def lacks(self, *, more_bytes: int = 0) -> bool:
        """Returns True while a disk has less than the minimum and `more_bytes`, or if its free
        space cannot be read.
        """
        needed = self._minimum_bytes + more_bytes
        try:
            return any(self._measure(path) < needed for path in self._paths)
        except OSError:
            return True

    def check(self) -> None:
        """Raises `NoFreeSpace` while a disk has less than the minimum."""
        if self.lacks():
            raise NoFreeSpace(
                f"The service has less than {self._minimum_bytes / _MEGABYTE:.0f} MB of free disk "
                "space and accepts no new data until an operator frees some. Retry later."
            )
