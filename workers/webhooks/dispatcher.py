"""Starts the process that delivers webhooks, when there is something to deliver and none runs.

The control queue also carries sweeps, which must not wait for a receiver that takes its time.
"""

import subprocess
import sys
from typing import Final

import structlog

from app.domain.errors import Unavailable
from app.settings import Settings
from app.store.database import Database
from app.store.webhooks.deliveries import delivery_claims

log = structlog.get_logger()

CHILD: Final = (sys.executable, "-m", "workers.webhooks.child")
_children: list[subprocess.Popen[bytes]] = []


async def dispatch(settings: Settings) -> bool:
    """Whether a process delivers now. It lives no longer than this one."""
    _children[:] = [running for running in _children if running.poll() is None]
    if _children:
        return True
    if not await _is_due(settings):
        return False
    _children.append(subprocess.Popen(CHILD, stdin=subprocess.PIPE))  # noqa: ASYNC220, S603 - our own program, returns at once
    return True


async def _is_due(settings: Settings) -> bool:
    database = Database(settings.worker_database_url, pool_size=1)
    try:
        async with delivery_claims(database) as unit:
            return await unit.deliveries.is_due()
    except Unavailable as error:
        log.warning("deliveries not looked at, database away", error=str(error))
        return False
    finally:
        await database.dispose()
