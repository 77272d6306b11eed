"""Routes of fine-tuning jobs."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Deleted, Page, object_page
from app.api.schemas.job_replies import FineTuningJob
from app.api.schemas.jobs import CreateFineTuningJob, ResumeFineTuningJob
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.domain.errors import refused_value
from app.domain.jobs.usage import NO_CAPS
from app.web.query_check import metadata_pairs

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
        after=after,
        limit=limit,
        metadata=pairs,
        without_metadata=metadata is not None,
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
