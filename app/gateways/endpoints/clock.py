"""Clock protocol for the limits of endpoints, so that tests can replace real time."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Returns the seconds of a monotonic clock."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def settled_by(clock: Clock, future: asyncio.Future[None], *, deadline: float) -> bool:
    """Waits for `future` until `deadline`; returns true if it was done in time. Does not cancel
    it.
    """
    if future.done():
        return True
    timer = asyncio.ensure_future(clock.sleep(max(0.0, deadline - clock.now())))
    try:
        await asyncio.wait({future, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return future.done()
