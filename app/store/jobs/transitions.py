"""Changes of a job's state along the transition table, under a lock on its row."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound, WrongState
from app.domain.events.webhooks import job_event
from app.domain.jobs.jobs import JobStatus, may_become
from app.store.events.log import log_end
from app.store.leases.leases import ended_lease
from app.store.schema.jobs import FineTuningJobTable as Table


def no_such_job(job_id: str) -> NotFound:
    return NotFound(f"Could not find fine tune: {job_id}", code="fine_tune_not_found")


async def lock_job(session: AsyncSession, job_id: str) -> Table:
    """Returns the row, locked until the transaction ends. Raises `NotFound`, also for a job that
    was deleted.
    """
    row = await session.scalar(
        select(Table)
        .where(Table.id == job_id, Table.deleted_at.is_(None))
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise no_such_job(job_id)
    return row


async def move_job(
    session: AsyncSession, project_id: str, job_id: str, following: JobStatus, **values: Any
) -> None:
    """Compares and sets the state along the transition table. Raises `WrongState`."""
    row = await lock_job(session, job_id)
    current = JobStatus(row.status)
    if not may_become(current, following):
        raise WrongState(f"Job {job_id} is {current.value} and cannot become {following.value}.")
    await session.execute(
        update(Table).where(Table.id == job_id).values(status=following.value, **values)
    )
    event_type = job_event(following)
    if event_type is not None:
        await log_end(session, project_id, event_type=event_type, subject=job_id)


async def pause_job(session: AsyncSession, project_id: str, job_id: str) -> None:
    """Pauses the job and ends its lease. Raises `WrongState`."""
    await move_job(
        session,
        project_id,
        job_id,
        JobStatus.PAUSED,
        stop_request=None,
        estimated_finish=None,
        **ended_lease(),
    )
