"""Removes what trackers wrote of a job in the installation's own directory.

Owns where in the files of each library the messages of rollouts lie: those of a job are removed
with its rollouts, and its curves, settings and report stay.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from app.domain.jobs.integrations import LIBRARIES, TrackerKind

_MESSAGES: Final[dict[TrackerKind, tuple[str, ...]]] = {
    "tensorboard": ("rollouts",),
    "wandb": (
        *("*/.tmp", "*/.cache", "*/.config", "*/.local"),
        *("*/wandb/*/files/media", "*/wandb/*/tmp"),
    ),
    "mlflow": ("*/.tmp", "*/artifacts/*/artifacts/rollouts"),
    "trackio": ("*/.tmp", "*/*_traces.parquet", "*/traces"),
}
"""Paths below the directory of a job."""
_DATABASES: Final = "*/*.db"


def remove_tracked(trackers_dir: Path, project_id: str, job_id: str, *, everything: bool) -> None:
    """Removes all files of a job, or those with messages. Raises `OSError` or `sqlite3.Error`."""
    for kind in LIBRARIES:
        directory = trackers_dir / kind / project_id / job_id
        if everything:
            _remove(directory)
            continue
        for path in _with_messages(kind, directory):
            _remove(path)
        if kind == "trackio":
            for database in directory.glob(_DATABASES):
                _remove_traces(database)


def _with_messages(kind: TrackerKind, directory: Path) -> Iterator[Path]:
    for pattern in _MESSAGES[kind]:
        yield from directory.glob(pattern)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_traces(database: Path) -> None:
    """Removes the rows of traces, and their bytes from the file."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'traces'")
        if tables.fetchone() is None:
            return
        connection.execute("DELETE FROM traces")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
