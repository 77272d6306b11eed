"""The points and documents that a tracker writes, and the protocol of trackers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.rollouts.metrics import MetricPoint


@dataclass(frozen=True, slots=True)
class Document:
    """A text about a job: its settings, its report, or the messages of a rollout."""

    tag: str
    step: int
    text: str
    """Markdown."""


@dataclass(frozen=True, slots=True)
class Record:
    points: Sequence[MetricPoint]
    documents: Sequence[Document]
    written_at: float
    """Unix seconds of the newest event that it is made from."""


class Tracker(Protocol):
    """Writes one job with the library of a tracker. Both methods block."""

    def write(self, record: Record) -> None:
        """Writes what the tracker does not have yet. After an error the tracker is opened anew."""

    def close(self) -> None: ...
