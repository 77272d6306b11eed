"""Provides a stored object as a temporary local file, for readers that need a path."""

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from anyio import to_thread

from app.gateways.objects.objects import Objects

_PREFIX: Final = "fetched-"
_STALE_S: Final = 24 * 3600.0
"""Age in seconds above which a file belongs to a killed process: no reader takes this long."""


@asynccontextmanager
async def local_copy(objects: Objects, key: str, work_dir: Path) -> AsyncIterator[Path]:
    """Yields a file with the object's bytes, which is removed at the end; a reader that has it open
    can continue. Raises `FileNotFoundError` and `Unavailable`.
    """
    async with work_directory(work_dir) as directory:
        path = directory / key.rpartition("/")[2]
        await objects.fetch(key, path)
        yield path


@asynccontextmanager
async def work_directory(work_dir: Path) -> AsyncIterator[Path]:
    """Yields an empty directory, which is removed at the end."""
    directory = await to_thread.run_sync(_new_directory, work_dir)
    try:
        yield directory
    finally:
        await to_thread.run_sync(lambda: shutil.rmtree(directory, ignore_errors=True))


def _new_directory(work_dir: Path) -> Path:
    work_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in work_dir.glob(f"{_PREFIX}*"):
        try:
            stale = time.time() - old.stat().st_mtime > _STALE_S
        except FileNotFoundError:  # removed concurrently by its reader
            continue
        if stale:
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=work_dir))
