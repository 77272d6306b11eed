"""Adds positions in the queue to jobs that wait for a worker."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

import structlog

from app.database import Database, UnitOfWork
from app.jobs.jobs import (
    NO_CAPS,
    Caps,
    Checkpoint,
    Job,
    JobEvent,
    JobStatus,
    QueuePosition,
    StopRequest,
)
from app.jobs.results import result_file
from app.kit.callers import Tenant
from app.kit.errors import Unavailable
from app.kit.job_queue import JobQueue
from app.kit.objects import Objects, put_bytes

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


class CheckpointService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.checkpoints.page(job_id, after=after, limit=limit)


class EventService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[JobEvent], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.events.page(job_id, after=after, limit=limit)

    async def messages(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[JobEvent], bool]:
        """Returns a page of the events for people: all but those of metrics, newest first."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.events.page(job_id, after=after, limit=limit, type="message")

    async def tracker_links(self, job_id: str) -> list[tuple[str, str]]:
        """Returns name and address of each tracker that shows the job."""
        async with self._database.tenant(self._tenant) as unit:
            events = await unit.events.links(job_id)
        found = [event.data or {} for event in events]
        return [(str(one.get("tracker")), str(one["url"])) for one in found]


log = structlog.get_logger()


class JobService:
    def __init__(
        self, database: Database, queue: JobQueue, objects: Objects, *, tenant: Tenant
    ) -> None:
        self._database = database
        self._queue = queue
        self._objects = objects
        self._tenant = tenant
        self._jobs = database.jobs(tenant)

    async def get(self, job_id: str) -> Job:
        """Returns the job, with its position in the queue while it waits."""
        return await with_queue_position(await self._jobs.get(job_id), self._jobs.queue_positions)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        metadata: dict[str, str] | None = None,
        without_metadata: bool = False,
        status: JobStatus | None = None,
    ) -> tuple[list[Job], bool]:
        async with self._database.tenant(self._tenant) as unit:
            jobs, more = await unit.jobs.page(
                after=after,
                limit=limit,
                metadata=metadata,
                without_metadata=without_metadata,
                status=status,
            )
        return await with_queue_positions(jobs, self._jobs.queue_positions), more

    async def owners(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Returns the names of the keys that created the jobs, by job. A job of a key of another
        project is left out.
        """
        async with self._database.organization(self._tenant.organization_id) as unit:
            names = await unit.keys.names(self._tenant.project_id, {job.key_id for job in jobs})
        return {job.id: names[job.key_id] for job in jobs if job.key_id in names}

    async def cancel(self, job_id: str) -> Job:
        """Requests the end of a job; one that no worker has claimed ends at once."""
        return await self._stop(job_id, StopRequest.CANCEL)

    async def pause(self, job_id: str) -> Job:
        """Requests that a job stops after its last committed step; `resume` continues from
        there.
        """
        return await self._stop(job_id, StopRequest.PAUSE)

    async def resume(self, job_id: str, caps: Caps = NO_CAPS) -> Job:
        """Queues a paused job again; the passed caps replace its own."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.mark_queued(job_id, caps)
            await unit.events.append(job_id, message="Fine-tuning job resumed")
            unit.after_commit(lambda: self._queue.enqueue_run(job_id))
        return await self.get(job_id)

    async def delete(self, job_id: str) -> None:
        """Deletes an ended job; the model that it published stays callable. Raises `WrongState`
        for a job that has not ended, or whose checkpoints are in use.
        """
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.delete(job_id)

    async def _stop(self, job_id: str, request: StopRequest) -> Job:
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.request_stop(job_id, request)
            if job.status is JobStatus.CANCELLED and job.step > 0:
                job = await self._with_result_file(unit, job)
            unit.after_end(self._queue.enqueue_deliveries)
            if job.status in (JobStatus.CANCELLED, JobStatus.PAUSED):
                await unit.events.append(
                    job_id,
                    level="info",
                    message=f"Fine-tuning job {job.status.value}",
                )
        return job

    async def _with_result_file(self, unit: UnitOfWork, job: Job) -> Job:
        """Stores the result file of a cancelled job, whose run can no longer write."""
        points = await unit.metrics.curve(job.id, names=None, split=None, after_step=0)
        made = result_file(job, points)
        if made is None:
            return job
        row, content = made
        try:
            await put_bytes(self._objects, row.object_key, content)
        except Unavailable as error:  # a full disk must not keep a job running
            log.warning("no result file written", job_id=job.id, error=str(error))
            return job
        await unit.files.insert(row)
        await unit.jobs.set_result_files(job.id, [row.id])
        return replace(job, result_files=[row.id])
