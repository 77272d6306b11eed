"""Repairs what messages and workers lost of eval runs: wakes again, and ends what keeps dying."""

import structlog

from app.domain.errors import Unavailable
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings import Settings
from app.store.database import Database
from app.store.evals.claims import eval_claims

log = structlog.get_logger()

RESEND_AFTER_S = 5.0
BATCH = 100


async def sweep_evals_once(settings: Settings) -> None:
    database = Database(settings.worker_database_url, pool_size=1)
    queue = CeleryJobQueue(settings.redis_url)
    try:
        await sweep_evals(database, queue, max_attempts=settings.lease.max_attempts)
    except Unavailable as error:
        log.warning("sweep skipped, database away", error=str(error))
    finally:
        await queue.aclose()
        await database.dispose()


async def sweep_evals(database: Database, queue: JobQueue, *, max_attempts: int) -> list[str]:
    """Returns the ids of the runs that were sent."""
    async with eval_claims(database) as unit:
        for run_id in await unit.runs.fail_exhausted(max_attempts):
            log.error("eval run failed for good", run_id=run_id)
        due = await unit.runs.due(BATCH, RESEND_AFTER_S)
    for run_id in due:
        await queue.enqueue_eval(run_id)
    return due
