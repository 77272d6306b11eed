"""Claims a row and starts its child, without blocking the Celery task that requests it.

The control queue also carries sweeps, which must not wait for an eval of hours.
"""

import structlog

from app.settings import Settings
from workers.processes.children import Children
from workers.processes.clients import open_database
from workers.processes.leased_work import LeasedWork

log = structlog.get_logger()


async def dispatch(
    work: LeasedWork, settings: Settings, row_id: str, *, children: Children
) -> bool:
    """Claims the row and starts a child. Returns whether it did; without capacity the row waits for
    the sweeper's next notification.
    """
    if children.is_full:
        log.info("no capacity for another child", **work.named(row_id))
        return False
    async with open_database(settings, pool_size=1) as database:
        lease = await work.claim(database, row_id, limits=settings.lease)
    if lease is None:
        log.info("nothing to claim", **work.named(row_id))
        return False
    children.start(work.command(lease))
    return True
