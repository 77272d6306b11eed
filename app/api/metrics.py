"""Routes of a job's curves."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from app.api.schemas.common import Page, object_page
from app.api.schemas.metrics import Curve, CurvePoint
from app.api.support.dependencies import Exporting, Services, StillValid
from app.api.support.errors import responses
from app.api.support.tables import FormatQuery, Table, table_replies, table_reply
from app.domain.errors import InvalidRequest, refused_value
from app.domain.ids import Split
from app.domain.rollouts.metric_meanings import MEANINGS, check_names
from app.domain.rollouts.metrics import MetricPoint

_LIST = "\n".join(f"- `{name}`: {text}" for name, text in MEANINGS.items())
_DESCRIPTION = (
    "The points of a job's curves, thinned to `max_points`. A part of a name in angle brackets "
    f"stands for a tool, a child of the grader, a component or a failure class.\n\n{_LIST}"
)
router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/metrics", tags=["Fine-tuning"])
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


@router.get(
    "",
    operation_id="listFineTuningJobMetrics",
    responses=responses(404),
    description=_DESCRIPTION,
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
    curves = await services.curve_points().thinned(
        job_id,
        names=requested or None,
        split=split,
        after_step=after_step,
        max_points=max_points,
    )
    return object_page([Curve.of(points) for points in curves], has_more=False)


@router.get(
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
    points = exporter.services.curve_points().export(
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
