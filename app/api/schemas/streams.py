"""Messages of a job's live stream (an extension: the hosted API has no stream of a job)."""

from typing import Literal

from app.api.schemas.events import FineTuningJobEvent
from app.api.schemas.job_replies import JobErrorBody
from app.domain.documents.described import DescribedModel
from app.domain.ids import Split
from app.domain.jobs.jobs import Job, JobStatus
from app.domain.jobs.streams import StreamedEvent


class StreamedPoint(DescribedModel):
    """One point of a curve, committed with the event that it comes with."""

    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""


class StreamedJobEvent(FineTuningJobEvent):
    """An event of the job; its `type` is the name of the message, its `id` the message's id."""

    points: list[StreamedPoint]
    """Points of the step in `data.step`; a later one of the same name, split and step replaces an
    earlier one.
    """

    @classmethod
    def of_stream(cls, streamed: StreamedEvent) -> "StreamedJobEvent":
        points = [
            StreamedPoint(name=one.name, split=one.split, step=one.step, value=one.value)
            for one in streamed.points
        ]
        return cls(**FineTuningJobEvent.of(streamed.event).model_dump(), points=points)


class StreamedJob(DescribedModel):
    """The state of the job after the events that were sent: the message `job`, without an id."""

    id: str
    """Id of the job."""
    object: Literal["fine_tuning.job.state"] = "fine_tuning.job.state"
    status: JobStatus
    """After `succeeded`, `failed` or `cancelled` the stream ends."""
    step: int
    """Last committed step; 0 before the first."""
    total_steps: int | None
    """Steps of the whole job; `null` until its files are validated."""
    estimated_finish: int | None
    """Unix seconds at which the job should end."""
    finished_at: int | None
    """Unix seconds of the end."""
    fine_tuned_model: str | None
    """Name of the published model."""
    error: JobErrorBody | None
    """The reason of a failed job."""

    @classmethod
    def of(cls, job: Job) -> "StreamedJob":
        error = job.error
        return cls(
            id=job.id,
            status=job.status,
            step=job.step,
            total_steps=job.total_steps,
            estimated_finish=job.estimated_finish,
            finished_at=job.finished_at,
            fine_tuned_model=job.fine_tuned_model,
            error=None
            if error is None
            else JobErrorBody(code=error.code, message=error.message, param=error.param),
        )


STREAM_PARTS: tuple[type[DescribedModel], ...] = (StreamedPoint, StreamedJobEvent, StreamedJob)
STREAM_SCHEMA = {
    "type": "string",
    "description": "The data of a message is a `StreamedJob` for the event `job`, else a "
    "`StreamedJobEvent`.",
}
"""Schema of the body: a text of many messages, which a client must not read as one object."""
