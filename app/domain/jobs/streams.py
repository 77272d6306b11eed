"""A live stream of a job: its events with the points that they committed, and its state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.jobs.jobs import Job, JobEvent, JobStatus
from app.domain.rollouts.metrics import MetricPoint

LAST_EVENT_ID: Final = "Last-Event-ID"
"""The header with the last received event, which a browser sends when it reconnects."""
END_STREAM: Final = "end_stream"
"""Key of a request's state: the function that ends its stream. A server that stops calls it,
because it waits for open replies.
"""


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    """An event with the points of the curves that were committed with it."""

    position: int
    """Position in commit order; a stream continues after it."""
    event: JobEvent
    points: Sequence[MetricPoint] = ()


@dataclass(frozen=True, slots=True)
class JobHead:
    """The parts of a job that a stream shows; a changed head is news."""

    status: JobStatus
    step: int
    estimated_finish: int | None
    newest: int
    """Position of the newest event."""


@dataclass(frozen=True, slots=True)
class IdleHeartbeat:
    """No event arrived during a heartbeat interval."""


StreamItem = StreamedEvent | Job | IdleHeartbeat


def step_of(event: JobEvent) -> int | None:
    """Returns the step whose points were committed with the event; `None` if there are none."""
    step = (event.data or {}).get("step")
    return step if isinstance(step, int) else None
