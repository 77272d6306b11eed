"""Starts the process that writes trackers when a job has one and no such process runs."""

from typing import Final

import structlog

from app.database import Database
from app.kit.errors import Unavailable
from workers.processes.forking.forks import Children
from workers.processes.leased_work import python_module
from workers.trackers.update_reader import tracked_integrations

log = structlog.get_logger()

CHILD: Final = python_module("workers.trackers.child")


async def dispatch_trackers(database: Database, *, children: Children) -> bool:
    """Starts the writing process if needed. Returns whether one runs now."""
    if children.is_full:
        return True
    try:
        if not await tracked_integrations(database):
            return False
    except Unavailable as error:
        log.warning("trackers not checked, database unavailable", error=str(error))
        return False
    children.start(CHILD)
    return True
