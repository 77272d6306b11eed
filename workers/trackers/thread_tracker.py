"""Runs a tracker's library on a thread of this process."""

import asyncio

from workers.trackers.records import Record
from workers.trackers.tracker import LibraryRun, WriteReport


class ThreadTracker:
    """A tracker whose library writes files alone, so that it needs no process of its own."""

    wants_all = False

    def __init__(self, run: LibraryRun) -> None:
        self._run = run

    async def write(self, record: Record) -> WriteReport:
        return await asyncio.to_thread(self._run.write, record)

    async def close(self) -> None:
        await asyncio.to_thread(self._run.close)

    async def abandon(self) -> None:
        """Closes the run; a thread that still writes fails, and the next try opens it anew."""
        await self.close()
