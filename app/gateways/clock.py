"""Time as the limits of endpoints see it, so that tests need not wait for it."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def settled_by(clock: Clock, future: asyncio.Future[None], *, deadline: float) -> bool:
    """Wait for `future` until `deadline`; whether it was done in time. It is not cancelled."""
    if future.done():
        return True
    timer = asyncio.ensure_future(clock.sleep(max(0.0, deadline - clock.now())))
    try:
        await asyncio.wait({future, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return future.done()
