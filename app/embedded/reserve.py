"""A file of some megabytes that is removed when the disk is full.

Owns: that file. Promises: when the disk is full, its space becomes free for Postgres, whose
recovery needs some; the file is created again once there is space. Never raises. Must not know the
cause of the full disk.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from app.gateways.free_space import free_bytes

_log = structlog.get_logger()

RESERVE_BYTES: Final = 16 * 1024**2


class Reserve:
    def __init__(
        self,
        path: Path,
        *,
        minimum_bytes: int,
        size: int = RESERVE_BYTES,
        measure: Callable[[Path], int] = free_bytes,
    ) -> None:
        """`minimum_bytes`: free space that must remain beside the file when it is created again."""
        self._path = path
        self._minimum_bytes = minimum_bytes
        self._size = size
        self._measure = measure

    def keep(self) -> None:
        """Creates or removes the file, depending on the free space. Call often."""
        with suppress(OSError):
            free, held = self._measure(self._path.parent), self._path.exists()
            if held and free < self._size:
                self._path.unlink()
                _log.error("disk_full", free_bytes=free, released_bytes=self._size)
            elif not held and free > self._minimum_bytes + 2 * self._size:
                self._create()

    def release(self) -> None:
        """Removes the file at once, because something could not be written."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _create(self) -> None:
        try:
            self._path.touch(mode=0o600)
            with self._path.open("wb") as file:
                file.write(bytes(self._size))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            self._path.unlink(missing_ok=True)
