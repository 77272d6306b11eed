"""Routes of a job's checkpoints."""

from fastapi import APIRouter

from app.api.schemas.checkpoints import FineTuningJobCheckpoint
from app.api.schemas.common import Page, object_page
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/checkpoints", tags=["Fine-tuning"])


@router.get("", operation_id="listFineTuningJobCheckpoints", responses=responses(404))
async def list_checkpoints(
    job_id: str, services: Services, after: After = None, limit: Limit = 10
) -> Page[FineTuningJobCheckpoint]:
    """Lists the checkpoints of a job, newest first. Each is a model that chat and new jobs take."""
    checkpoints, has_more = await services.checkpoints().page(job_id, after=after, limit=limit)
    data = [FineTuningJobCheckpoint.of(checkpoint) for checkpoint in checkpoints]
    return object_page(data, has_more=has_more)
