"""Keeps the declared rate limit of one customer endpoint, in a single event loop."""

import asyncio
import math
from collections import deque
from typing import Final

from app.gateways.endpoints.clock import Clock

_LOWEST_RATE: Final = 1e-9
_HIGHEST_RATE: Final = 1e6
"""Bounds of a declared rate, which may be any positive number: beyond them intervals and queue
lengths are not representable.
"""


class Pacer:
    """Limits sends to `rate` in any second, evenly spaced. `rate` may be below 1."""

    def __init__(self, rate: float, clock: Clock) -> None:
        rate = min(max(rate, _LOWEST_RATE), _HIGHEST_RATE)
        self._interval = 1.0 / rate
        burst = max(1, math.floor(rate))
        self._window = burst / rate
        self._sent: deque[float] = deque(maxlen=burst)
        self._next = clock.now()
        self._clock = clock
        self._turn = asyncio.Lock()

    async def wait(self) -> None:
        """Returns when the next request may be sent, in the order of the calls."""
        async with self._turn:
            now = self._clock.now()
            due = max(now, self._next)
            self._next = due + self._interval
            if len(self._sent) == self._sent.maxlen:
                # After a stall several sends are due at once; the limit per second still applies.
                due = max(due, self._sent[0] + self._window)
            if due > now:
                await self._clock.sleep(due - now)
            self._sent.append(self._clock.now())
