"""Routes of a job's live stream."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event

from app.api.schemas.streams import STREAM_SCHEMA, StreamedJob, StreamedJobEvent
from app.api.support.dependencies import StillValid, Streaming
from app.api.support.errors import responses
from app.domain.jobs.jobs import Job
from app.domain.jobs.streams import LAST_EVENT_ID, StreamedEvent
from app.web.event_stream import event_stream

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/stream", tags=["Fine-tuning"])
_ENDED: Final = "The job has ended, and the client has all its events."
_REPLIES: Final[dict[int | str, dict[str, Any]]] = {
    **responses(404),
    200: {
        "description": "Server-sent events, until the job has ended. Comments keep it open.",
        "content": {"text/event-stream": {"schema": STREAM_SCHEMA}},
    },
    204: {"description": _ENDED},
}
AfterEvent = Annotated[
    str | None,
    Query(max_length=128, description="Id of the last event that the client has"),
]
LastEventId = Annotated[
    str | None,
    Header(
        alias=LAST_EVENT_ID,
        max_length=128,
        description="As `after`, which it replaces: browsers send it when they connect again",
    ),
]


@router.get(
    "", operation_id="streamFineTuningJob", responses=_REPLIES, response_class=StreamingResponse
)
async def stream_job(
    job_id: str,
    request: Request,
    services: Streaming,
    check: StillValid,
    after: AfterEvent = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Streams a job: each event once, in order, with the points of its curves (`message`,
    `metrics`), and the job's state whenever it has changed (`job`). Begins with the first event, or
    after the one that `after` names. Ends with the job.
    """
    stream = await services.streams().open(job_id, after=after, last_event_id=last_event_id)
    if stream is None:
        return Response(status_code=204)
    return event_stream(request, stream.items(check), end=stream.end, of_event=_event, of_job=_job)


def _event(item: StreamedEvent) -> bytes:
    shown = StreamedJobEvent.of_stream(item)
    return format_sse_event(id=shown.id, event=shown.type, data_str=shown.model_dump_json())


def _job(job: Job) -> bytes:
    return format_sse_event(event="job", data_str=StreamedJob.of(job).model_dump_json())
