"""Opens the tracker of an integration. The library is imported by the call that needs it."""

from pathlib import Path
from typing import assert_never

from app.domain.jobs.integrations import TrackerKind
from app.store.jobs.tracked_jobs import TrackedJob
from workers.trackers.records import Tracker


def directory_of(root: Path, kind: TrackerKind, job: TrackedJob) -> Path:
    """Returns the directory of a job, which its tracker alone writes to."""
    return root / kind / job.project_id / job.id


def open_tracker(kind: TrackerKind, directory: Path) -> Tracker:
    match kind:
        case "tensorboard":
            from workers.trackers.event_files import EventFiles  # noqa: PLC0415 - an optional library

            return EventFiles(directory)
        case _:
            assert_never(kind)
