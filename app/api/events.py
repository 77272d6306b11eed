"""Routes of a job's events."""

from fastapi import APIRouter

from app.api.schemas.common import Page, object_page
from app.api.schemas.events import FineTuningJobEvent
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}/events", tags=["Fine-tuning"])


@router.get("", operation_id="listFineTuningEvents", responses=responses(404))
async def list_events(
    job_id: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[FineTuningJobEvent]:
    """Lists the events of a job, newest first."""
    events, has_more = await services.events().page(job_id, after=after, limit=limit)
    return object_page([FineTuningJobEvent.of(event) for event in events], has_more=has_more)
