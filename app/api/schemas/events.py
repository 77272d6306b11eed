"""Events on the wire. Source: the hosted API's `FineTuningJobEvent`."""

from typing import Literal

from app.domain.documents.described import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.jobs.jobs import EventKind, EventLevel, JobEvent


class FineTuningJobEvent(DescribedModel):
    """An event in the life of a job."""

    id: str
    object: Literal["fine_tuning.job.event"] = "fine_tuning.job.event"
    created_at: int
    level: EventLevel
    """`warn` and `error` need attention."""
    message: str
    """The event in a sentence."""
    type: EventKind
    """`metrics` has the figures of a step in `data`."""
    data: Json | None
    """Figures, codes and parameters of the event."""

    @classmethod
    def of(cls, event: JobEvent) -> "FineTuningJobEvent":
        return cls(
            id=event.id,
            created_at=event.created_at,
            level=event.level,
            message=event.message,
            type=event.type,
            data=event.data,
        )
