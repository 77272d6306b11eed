"""Adds positions in the queue to jobs that wait for a worker."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from app.domain.jobs.jobs import Job, JobStatus, QueuePosition

Positions = Callable[[list[str]], Awaitable[dict[str, QueuePosition]]]
_WAITING: Final = frozenset({JobStatus.VALIDATING_FILES, JobStatus.QUEUED})


async def with_queue_position(job: Job, positions: Positions) -> Job:
    return (await with_queue_positions([job], positions))[0]


async def with_queue_positions(jobs: list[Job], positions: Positions) -> list[Job]:
    """Returns the jobs with their positions. Makes one query for any number of jobs, and none if no
    job waits.
    """
    waiting = [job.id for job in jobs if job.status in _WAITING]
    if not waiting:
        return jobs
    found = await positions(waiting)
    return [replace(job, queue=found.get(job.id)) for job in jobs]
