"""Runs a tracker's library on a thread of this process."""

import asyncio

from workers.trackers.tracker import LibraryRun, WriteReport
from workers.trackers.tracker_update import TrackerUpdate


class ThreadTracker:
    """A tracker whose library writes files alone, so that it needs no process of its own."""

    wants_all = False

    def __init__(self, run: LibraryRun) -> None:
        self._run = run

    async def write(self, update: TrackerUpdate) -> WriteReport:
        return await asyncio.to_thread(self._run.write, update)

    async def close(self) -> None:
        await asyncio.to_thread(self._run.close)

    async def abandon(self) -> None:
        """Closes the run; a thread that still writes fails, and the next try opens it anew."""
        await self.close()
