"""Events on the wire. Source: the hosted API's `FineTuningJobEvent`."""

from typing import Literal

from pydantic import BaseModel

from app.api.schemas.common import Json
from app.domain.jobs.jobs import JobEvent


class FineTuningJobEvent(BaseModel):
    id: str
    object: Literal["fine_tuning.job.event"] = "fine_tuning.job.event"
    created_at: int
    level: Literal["info", "warn", "error"]
    message: str
    type: Literal["message", "metrics"]
    data: Json | None

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
