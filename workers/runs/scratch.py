"""The scratch directory of a claim: a run writes files there before it stores them, and fetches
stored files into it.

Owns its path under the work directory and its removal: at the end of the claim or, after a kill,
when the next run starts on the machine. The engine loads a run's adapters from it, so it must see
the work directory.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

_RUNS: Final = "runs"
_LOCK: Final = ".lock"


@contextmanager
def claim_scratch(work_dir: Path, job_id: str, fence: int) -> Iterator[Path]:
    """Yields an empty directory of a claim's own."""
    runs = work_dir / _RUNS
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    for leftover in runs.iterdir():
        _remove_unless_locked(leftover)
    new, directory = runs / f".{uuid4().hex}", runs / f"{job_id}-f{fence}"
    new.mkdir(mode=0o700)
    try:
        with (new / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel gives it back when the process crashes
            new.rename(directory)
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _remove_unless_locked(directory: Path) -> None:
    """Removes the directory of a killed process. A directory gets its name once it is locked."""
    if directory.name.startswith("."):
        return
    with suppress(FileNotFoundError, BlockingIOError), (directory / _LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
