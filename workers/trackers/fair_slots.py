"""Slots for writes that are shared fairly between projects. Pure asyncio.

Owns the limit of writes at the same time, in all and for one project, and who gets a free slot: the
project with the fewest writes, and of these the one that waited longest. Promises that a project
whose writes all hang leaves slots to the others.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSlots:
    def __init__(self, total: int, *, for_one: int) -> None:
        self._total = total
        self._for_one = for_one
        self._used = Counter[str]()
        self._waiting = deque[tuple[str, asyncio.Future[None]]]()

    @asynccontextmanager
    async def of(self, project_id: str) -> AsyncIterator[None]:
        """Holds a slot of a project, as soon as one is free for it."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((project_id, granted))
        self._grant()
        try:
            await granted
            yield
        finally:
            if granted.done() and not granted.cancelled():
                self._used[project_id] -= 1
            else:
                self._waiting.remove((project_id, granted))
            self._grant()

    def _grant(self) -> None:
        while self._used.total() < self._total and (first := self._next()) is not None:
            project_id, granted = first
            self._waiting.remove(first)
            self._used[project_id] += 1
            granted.set_result(None)

    def _next(self) -> tuple[str, asyncio.Future[None]] | None:
        fitting = [one for one in self._waiting if self._may_have(*one)]
        return min(fitting, key=lambda one: self._used[one[0]], default=None)

    def _may_have(self, project_id: str, granted: asyncio.Future[None]) -> bool:
        return not granted.done() and self._used[project_id] < self._for_one
