"""Routes of a job's rollouts, training ones included, and of its paired report."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.schemas.common import Page, paged
from app.api.schemas.reports import Report
from app.api.schemas.rollouts import Rollout, RolloutQuery
from app.api.support.dependencies import Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}", tags=["Fine-tuning"])


@router.get("/rollouts", operation_id="listFineTuningJobRollouts", responses=responses(404))
async def list_rollouts(
    job_id: str, services: Services, query: Annotated[RolloutQuery, Query()]
) -> Page[Rollout]:
    """Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.
    """
    rows, has_more = await services.rollouts().page(
        job_id,
        query.to_filter(),
        after=query.after,
        limit=query.limit,
        order_by=query.order_by,
        descending=query.order == "desc",
    )
    return paged([Rollout.of(row) for row in rows], has_more=has_more)


@router.get(
    "/rollouts/{rollout_id}",
    operation_id="retrieveFineTuningJobRollout",
    responses=responses(404),
)
async def get_rollout(job_id: str, rollout_id: str, services: Services) -> Rollout:
    """Returns a rollout with its messages, calls and grades."""
    return Rollout.of(await services.rollouts().get(job_id, rollout_id))


@router.get(
    "/report",
    operation_id="retrieveFineTuningJobReport",
    responses=responses(404),
    response_model_exclude_unset=True,
)
async def get_report(job_id: str, services: Services) -> Report:
    """Compares the model that training started from with the tuned one, on the held-out rows."""
    return Report.model_validate(await services.rollouts().report(job_id))
