"""The committed events of an installation: their types, and one event as consumers read it."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from app.webhooks.events import EventType

JobEventType = Literal["job.message", "job.metrics"]
"""An event of a job's own list; `job.metrics` is a committed training step."""
LoggedType = JobEventType | EventType
KEEP_LOG_S: Final = 7 * 24 * 3600.0
"""Retention of an event in the log, read or not: a consumer that is unavailable for less time
misses none.
"""


@dataclass(frozen=True, slots=True)
class CommittedEvent:
    position: int
    """Position in the log. Positions rise in commit order, so that no event appears before the
    cursor of a reader.
    """
    id: str
    project_id: str
    type: str
    """A `LoggedType`; a log that a newer version wrote may contain other types."""
    subject: str
    """Id of the job or of the eval run."""
    data: dict[str, Any]
    """Level, message and data of a job's event. Empty for the end of a job or of a run."""
    created_at: float
    """Unix seconds."""
