"""Routes of fine-tuning jobs."""

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.http.dependencies import After, Exporting, Limit, Services, StillValid, Streaming
from app.http.error_replies import responses
from app.http.requests import metadata_pairs, unless_client_hangs_up
from app.jobs.jobs import LAST_EVENT_ID, NO_CAPS, Job, StreamedEvent
from app.jobs.reply_schemas import (
    STREAM_SCHEMA,
    Curve,
    CurvePoint,
    FineTuningJob,
    FineTuningJobCheckpoint,
    FineTuningJobEvent,
    StreamedJob,
    StreamedJobEvent,
)
from app.jobs.schemas import (
    CreateFineTuningJob,
    FineTuningJobValidation,
    ResumeFineTuningJob,
    read_call,
)
from app.jobs.streams import event_stream
from app.kit.downloads import FormatQuery, Table, table_replies, table_reply
from app.kit.errors import InvalidRequest, refused_value
from app.kit.ids import Split
from app.kit.schemas import Deleted, Page, object_page
from app.rollouts.metrics import MEANINGS, MetricPoint, check_names

router = APIRouter(prefix="/v1/fine_tuning/jobs", tags=["Fine-tuning"])


def _null(sent: str) -> str:
    if sent != "null":
        message = "it must be 'null'; pairs are sent as 'metadata[key]=value'"
        raise PydanticCustomError("metadata", message)
    return sent


NoMetadata = Annotated[
    str | None,
    Query(alias="metadata", description="`null`: only jobs without metadata"),
    BeforeValidator(_null),
]


@router.post("", operation_id="createFineTuningJob", responses=responses())
async def create_job(body: CreateFineTuningJob, services: Services) -> FineTuningJob:
    """Creates a job. Tools, grader and curriculum can be ids of registered objects."""
    spec = await asyncio.to_thread(body.to_spec)
    return FineTuningJob.of(await services.job_creation().create(spec))


@router.get("", operation_id="listPaginatedFineTuningJobs", responses=responses())
async def list_jobs(
    request: Request,
    services: Services,
    after: After = None,
    limit: Limit = 20,
    metadata: NoMetadata = None,
) -> Page[FineTuningJob]:
    """Lists jobs, newest first; `metadata[key]=value` selects jobs with that pair."""
    pairs = metadata_pairs(request)
    if pairs and metadata is not None:
        raise refused_value("metadata", "'null' and pairs exclude each other; send one of them")
    jobs, has_more = await services.jobs().page(
        after=after, limit=limit, metadata=pairs, without_metadata=metadata is not None
    )
    return object_page([FineTuningJob.of(job) for job in jobs], has_more=has_more)


@router.get("/{job_id}", operation_id="retrieveFineTuningJob", responses=responses(404))
async def get_job(job_id: str, services: Services) -> FineTuningJob:
    """Returns a job with its state, usage and position in the queue."""
    return FineTuningJob.of(await services.jobs().get(job_id))


@router.delete("/{job_id}", operation_id="deleteFineTuningJob", responses=responses(404))
async def delete_job(job_id: str, services: Services) -> Deleted:
    """Deletes an ended job: its rollouts, events, metrics, report, result files, and the models of
    its checkpoints. The model that it published stays callable until it is deleted itself.
    """
    await services.jobs().delete(job_id)
    return Deleted(id=job_id, object="fine_tuning.job", deleted=True)


@router.post("/{job_id}/cancel", operation_id="cancelFineTuningJob", responses=responses(404))
async def cancel_job(job_id: str, services: Services) -> FineTuningJob:
    """Cancels a job that has not ended. Its checkpoints stay."""
    return FineTuningJob.of(await services.jobs().cancel(job_id))


@router.post("/{job_id}/pause", operation_id="pauseFineTuningJob", responses=responses(404))
async def pause_job(job_id: str, services: Services) -> FineTuningJob:
    """Pauses a job after its current step; a waiting job at once. `resume` continues from there."""
    return FineTuningJob.of(await services.jobs().pause(job_id))


@router.post("/{job_id}/resume", operation_id="resumeFineTuningJob", responses=responses(404))
async def resume_job(
    job_id: str, services: Services, body: ResumeFineTuningJob | None = None
) -> FineTuningJob:
    """Resumes a job. A job that a cap paused needs a higher value of that cap."""
    caps = NO_CAPS if body is None else body.to_caps()
    return FineTuningJob.of(await services.jobs().resume(job_id, caps))


events_router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/events", tags=["Fine-tuning"])


@events_router.get("", operation_id="listFineTuningEvents", responses=responses(404))
async def list_events(
    job_id: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[FineTuningJobEvent]:
    """Lists the events of a job, newest first."""
    events, has_more = await services.events().page(job_id, after=after, limit=limit)
    return object_page([FineTuningJobEvent.of(event) for event in events], has_more=has_more)


checkpoints_router = APIRouter(
    prefix="/v1/fine_tuning/jobs/{job_id}/checkpoints", tags=["Fine-tuning"]
)


@checkpoints_router.get("", operation_id="listFineTuningJobCheckpoints", responses=responses(404))
async def list_checkpoints(
    job_id: str, services: Services, after: After = None, limit: Limit = 10
) -> Page[FineTuningJobCheckpoint]:
    """Lists the checkpoints of a job, newest first. Each is a model that chat and new jobs take."""
    checkpoints, has_more = await services.events().checkpoints(job_id, after=after, limit=limit)
    data = [FineTuningJobCheckpoint.of(checkpoint) for checkpoint in checkpoints]
    return object_page(data, has_more=has_more)


_LIST = "\n".join(f"- `{name}`: {text}" for name, text in MEANINGS.items())
_DESCRIPTION = (
    "The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets "
    f"stands for a tool, a child of the grader, a component or a failure class.\n\n{_LIST}"
)
metrics_router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/metrics", tags=["Fine-tuning"])
Names = Annotated[
    list[str] | None,
    Query(
        description="Curves to return, repeated or separated by commas; unknown ones are refused"
    ),
]
_MAX_NAMES = 1000
MaxPoints = Annotated[int, Query(ge=1, le=10_000)]
AfterStep = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
_TABLE: Final[Table[MetricPoint]] = Table(
    CurvePoint.of, {"name": "text", "split": "text", "step": "integer", "value": "number"}
)
_EXPORT_REPLIES: dict[int | str, dict[str, Any]] = {
    **responses(404),
    **table_replies("A file of points, by name of the curve, split and step."),
}


@metrics_router.get(
    "", operation_id="listFineTuningJobMetrics", responses=responses(404), description=_DESCRIPTION
)
async def list_metrics(
    job_id: str,
    services: Services,
    names: Names = None,
    split: Split | None = None,
    after_step: AfterStep = None,
    max_points: MaxPoints = 500,
) -> Page[Curve]:
    requested = _split(names or [])
    curves = await services.curves().thinned(
        job_id, names=requested or None, split=split, after_step=after_step, max_points=max_points
    )
    return object_page([Curve.of(points) for points in curves], has_more=False)


@metrics_router.get(
    "/export",
    operation_id="exportFineTuningJobMetrics",
    responses=_EXPORT_REPLIES,
    response_class=StreamingResponse,
)
async def export_metrics(
    job_id: str,
    exporter: Exporting,
    check: StillValid,
    names: Names = None,
    split: Split | None = None,
    form: FormatQuery = "jsonl",
) -> StreamingResponse:
    """Downloads every point of a job's curves as one file. It is written while it is sent; a
    download that breaks off has no valid end.
    """
    points = exporter.services.curves().export(
        job_id, names=_split(names or []) or None, split=split, check=check
    )
    return await table_reply(points, _TABLE, form, turn=exporter.turn, filename=f"{job_id}-metrics")


def _split(sent: list[str]) -> list[str]:
    requested = {name for part in sent for name in part.split(",") if name}
    if sent and not requested:
        raise refused_value("names", "it names no curve; leave it out for all of them")
    if len(requested) > _MAX_NAMES:
        raise InvalidRequest(f"At most {_MAX_NAMES} names can be requested.", param="names")
    names = sorted(requested)
    check_names(names)
    return names


preflight_router = APIRouter(prefix="/v1/fine_tuning/jobs", tags=["Fine-tuning"])
# The body is parsed in the route: a fault in it is part of the answer, not a 400.
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{CreateFineTuningJob.__name__}"}
            }
        },
    }
}


@preflight_router.post(
    "/validate", operation_id="validateFineTuningJob", responses=responses(), openapi_extra=_BODY
)
async def validate_job(request: Request, services: Services) -> FineTuningJobValidation:
    """Checks the body of a create call. Reports every fault at once, lengths, reachability of
    endpoints and an estimate, and makes no job. Graders grade an answer; a tool gets a call that it
    cannot run, with arguments that are no JSON.
    """
    body = await request.json() if await request.body() else None
    if not isinstance(body, dict):
        raise InvalidRequest("The request body must be a JSON object (application/json).")
    call = await asyncio.to_thread(read_call, body)
    check = services.call_check().report(body, *call)
    return FineTuningJobValidation.of(await unless_client_hangs_up(request, check))


streams_router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/stream", tags=["Fine-tuning"])
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
    str | None, Query(max_length=128, description="Id of the last event that the client has")
]
LastEventId = Annotated[
    str | None,
    Header(
        alias=LAST_EVENT_ID,
        max_length=128,
        description="As `after`, which it replaces: browsers send it when they connect again",
    ),
]


@streams_router.get(
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
