"""Time that jumps to the next sleeper once everybody waits: minutes of waiting in milliseconds."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_IDLE_ROUNDS = 50


class VirtualClock:
    """Serves code whose only waiting is on this clock; sockets need the real one."""

    def __init__(self) -> None:
        self.time = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, next(self._order), wake))
        await wake

    @asynccontextmanager
    async def running(self) -> AsyncIterator["VirtualClock"]:
        task = asyncio.create_task(self._run())
        try:
            yield self
        finally:
            task.cancel()

    async def _run(self) -> None:
        while True:
            for _ in range(_IDLE_ROUNDS):
                await asyncio.sleep(0)
            while self._sleepers and self._sleepers[0][2].done():
                heapq.heappop(self._sleepers)
            if not self._sleepers:
                continue
            due, _, wake = heapq.heappop(self._sleepers)
            self.time = max(self.time, due)
            wake.set_result(None)
