"""Routes of a job's curves."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.schemas.common import Page, paged
from app.api.schemas.metrics import Curve
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.domain.errors import InvalidRequest
from app.domain.ids import Split
from app.domain.rollouts.metric_meanings import MEANINGS, check_names

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
    curves = await services.metrics().curves(
        job_id,
        names=requested or None,
        split=split,
        after_step=after_step,
        max_points=max_points,
    )
    return paged([Curve.of(points) for points in curves], has_more=False)


def _split(sent: list[str]) -> list[str]:
    requested = {name for part in sent for name in part.split(",") if name}
    if len(requested) > _MAX_NAMES:
        raise InvalidRequest(f"At most {_MAX_NAMES} names can be requested.", param="names")
    names = sorted(requested)
    check_names(names)
    return names
