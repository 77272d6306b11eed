"""The sweeper: repairs what messages and workers lost. Runs every few seconds, anywhere.

A queued job whose wake-up was lost is sent again; a job whose lease ran out is sent again; a job
that used up its attempts fails with its reason.
"""

import structlog

from app.domain.errors import Unavailable
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings import Settings
from app.store.database import Database
from app.store.jobs.claims import system

log = structlog.get_logger()

RESEND_AFTER_S = 30.0
BATCH = 100


async def sweep_once(settings: Settings) -> None:
    database = Database(settings.worker_database_url, pool_size=1)
    queue = CeleryJobQueue(settings.redis_url)
    try:
        await sweep(database, queue, max_attempts=settings.lease.max_attempts)
    except Unavailable as error:
        log.warning("sweep skipped, database away", error=str(error))
    finally:
        await queue.aclose()
        await database.dispose()


async def sweep(database: Database, queue: JobQueue, *, max_attempts: int) -> list[str]:
    """Returns the ids of the jobs that were sent."""
    async with system(database) as unit:
        for exhausted in await unit.jobs.exhausted(max_attempts):
            message = f"The job's worker died {max_attempts} times without progress."
            await unit.jobs.fail_exhausted(exhausted, message)
            log.error("job failed for good", job_id=exhausted.job_id)
    async with system(database) as unit:
        due = await unit.jobs.due(BATCH, RESEND_AFTER_S)
    for job_id in due:
        await queue.enqueue_run(job_id)
    return due
