"""Repairs lost notifications and lost workers. Runs every few seconds, in any control worker.

A row whose notification was lost, or whose lease ran out, gets a new notification. A row that used
up its attempts fails with its reason. A notification says that there is work, and the claim chooses
the row, so a few unread ones are enough for any number of waiting rows: a worker with a free slot
reads the next one at once.
"""

import math
from collections.abc import Iterable
from typing import Final

import structlog

from app.database import Database
from app.kit.errors import Unavailable
from app.kit.job_queue import JobQueue
from app.settings import RetentionSettings
from workers.processes.clients import PeriodicTaskClients
from workers.processes.leased_work import LeasedWork
from workers.telemetry.process_metrics import show_waiting

log = structlog.get_logger()

MOST_UNREAD: Final = 10
"""Unread messages of a queue above which none is added. A sweep wakes as many idle workers."""


async def sweep_all(clients: PeriodicTaskClients, kinds: Iterable[LeasedWork]) -> None:
    settings = clients.settings
    for work in kinds:
        try:
            await sweep(
                work,
                clients.database,
                clients.queue,
                max_attempts=settings.lease.max_attempts,
                retention=settings.retention,
            )
            async with work.claims(clients.database) as unit:
                show_waiting(work.noun, await unit.leases.waiting())
        except Unavailable as error:
            show_waiting(work.noun, math.nan)
            log.warning("sweep skipped, database unavailable", noun=work.noun, error=str(error))


async def sweep(
    work: LeasedWork,
    database: Database,
    queue: JobQueue,
    *,
    max_attempts: int,
    retention: RetentionSettings | None = None,
) -> list[str]:
    message = f"The {work.noun}'s worker crashed {max_attempts} times without progress."
    kept_for = work.kept_for and work.kept_for(retention or RetentionSettings())
    async with work.claims(database) as unit:
        for lease in await unit.leases.exhausted(max_attempts):
            await unit.leases.fail(lease, message, kept_for=kept_for)
            log.error("failed for good", reason=message, **work.named(lease.id))
    unread = await queue.unread(work.queue)
    if unread is None:
        log.warning("no notification sent, broker unavailable", noun=work.noun)
        return []
    if unread >= MOST_UNREAD:
        return []
    async with work.claims(database) as unit:
        due = await unit.leases.due(MOST_UNREAD - unread, work.resend_after_s)
    for row_id in due:
        await work.notify(queue, row_id)
    return due
