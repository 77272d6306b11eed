"""Makes deliveries of committed events, and starts the process that sends them when one is due and
no such process runs.
"""

from typing import Final

import structlog

from app.database import Database
from app.kit.errors import Unavailable
from app.webhooks.deliveries import delivery_claims
from workers.processes.event_follower import WEBHOOKS, Follower
from workers.processes.forking.forks import Children
from workers.processes.leased_work import python_module

log = structlog.get_logger()

CHILD: Final = python_module("workers.webhooks.child")


async def dispatch_deliveries(database: Database, *, children: Children) -> bool:
    """Starts the delivering process if needed. Returns whether one runs now."""
    if children.is_full:
        return True
    if not await _is_due(database):
        return False
    children.start(CHILD)
    return True


async def _is_due(database: Database) -> bool:
    try:
        await Follower(database, (WEBHOOKS,)).catch_up()
        async with delivery_claims(database) as unit:
            return await unit.leases.is_due()
    except Unavailable as error:
        log.warning("due deliveries not checked, database unavailable", error=str(error))
        return False
