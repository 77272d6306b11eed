"""Routes of a job's rollouts, training ones included, and of its paired report."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.schemas.common import Json, Page
from app.api.schemas.rollouts import Rollout
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.domain.ids import Split

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}", tags=["Fine-tuning"])
Step = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


@router.get("/rollouts", operation_id="listFineTuningJobRollouts", responses=responses(404))
async def list_rollouts(
    job_id: str,
    services: Services,
    split: Split | None = None,
    step: Step = None,
    after: After = None,
    limit: Limit = 20,
) -> Page[Rollout]:
    rows, has_more = await services.rollouts().page(
        job_id, split=split, step=step, after=after, limit=limit
    )
    return Page(data=[Rollout.of(row) for row in rows], has_more=has_more)


@router.get(
    "/rollouts/{rollout_id}",
    operation_id="retrieveFineTuningJobRollout",
    responses=responses(404),
)
async def get_rollout(job_id: str, rollout_id: str, services: Services) -> Rollout:
    return Rollout.of(await services.rollouts().get(job_id, rollout_id))


@router.get("/report", operation_id="retrieveFineTuningJobReport", responses=responses(404))
async def get_report(job_id: str, services: Services) -> Json:
    """Base against tuned on the held-out rows, with intervals and regressions."""
    return await services.rollouts().report(job_id)
