"""The process that writes trackers: `python -m workers.trackers.child`.

It ends when no job has a tracker to write. The libraries of trackers run in it and in processes
that it starts: a fault of one of them ends these at most, and beat starts this one again.
"""

import asyncio
import sys
from typing import Final

import structlog

from app.kit.errors import Unavailable
from app.settings import Settings
from workers.processes.child import run_as_child, run_until_terminated
from workers.processes.clients import POOL_SIZE, open_database
from workers.trackers.tracker_sync import TrackerSync

log = structlog.get_logger()

POLL_S: Final = 2.0


async def _follow(trackers: TrackerSync) -> None:
    following = True
    try:
        while following:
            try:
                following = await trackers.start()
            except Unavailable as error:
                log.warning("trackers not written, database unavailable", error=str(error))
            if following:
                await asyncio.sleep(POLL_S)
        await trackers.settle()
    finally:
        await trackers.close()


async def _run(settings: Settings) -> int:
    async with open_database(settings, pool_size=POOL_SIZE) as database:
        following = _follow(TrackerSync(database, settings))
        return await run_until_terminated(following, what="trackers")


if __name__ == "__main__":
    sys.exit(run_as_child(_run))
