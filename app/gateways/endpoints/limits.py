"""Protects one customer endpoint from overload: rate limit, concurrency slots, circuit breaker.

Owns the declared rate limit (`Pacer`), the number of requests in flight (`ConcurrencySlots`) and
the memory of an outage (`Breaker`). All three make callers wait; none of them fails a call except
at its deadline. Single event loop, no locks across processes. Must not know HTTP.
"""

import asyncio
import math
from collections import deque
from typing import Final

from app.gateways.clock import Clock, settled_by

CEILING: Final = 512
_START: Final = 64
_AFTER_OUTAGE: Final = 8
_CLEAN_ROUNDS: Final = 3
_DECREASE: Final = 0.9
_CALLS_TO_OPEN: Final = 16
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 30.0
_LOWEST_RATE: Final = 1e-9
_HIGHEST_RATE: Final = 1e6
"""A customer may declare any positive number; beyond these no clock and no queue could hold it."""


class Pacer:
    """At most `rate` sends in any second, evenly spaced. `rate` may be below 1."""

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
        """Return when the next request may be sent, in the order of asking."""
        async with self._turn:
            now = self._clock.now()
            due = max(now, self._next)
            self._next = due + self._interval
            if len(self._sent) == self._sent.maxlen:
                # After a stall several sends are due at once; they still may not crowd a second.
                due = max(due, self._sent[0] + self._window)
            if due > now:
                await self._clock.sleep(due - now)
            self._sent.append(self._clock.now())


class ConcurrencySlots:
    """Limits the requests in flight: grows while the endpoint copes, shrinks when it refuses.

    Additive increase, multiplicative decrease. A refusal (429, 503, timeout) of a request that was
    the n-th in flight caps the slots at 0.9 n: a cap far too high is right after one round, and a
    burst of refusals that one request too many set off costs no more than that one. Slots double
    per round until the first refusal, then grow by one, after three clean rounds by a tenth.
    """

    def __init__(self, *, start: int = _START, ceiling: int = CEILING) -> None:
        self._limit = float(start)
        self._ceiling = float(ceiling)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._doubling = True
        self._clean = 0

    @property
    def limit(self) -> int:
        return int(self._limit)

    @property
    def taken(self) -> int:
        return self._taken

    async def take(self, clock: Clock, *, deadline: float, first: bool) -> bool:
        """Take a place; `False` when none came free by `deadline`. `first` goes before the queue:
        a call that was sent once has less time left than a new one.
        """
        if self._taken < self.limit and (first or not self._waiting):
            self._taken += 1
            return True
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        try:
            if await settled_by(clock, place, deadline=deadline):
                return True
            self._waiting.remove(place)
        except asyncio.CancelledError:
            if place.done():
                self.leave()
            else:
                self._waiting.remove(place)
            raise
        return False

    def leave(self) -> None:
        self._taken -= 1
        self._hand_out()

    def coped(self) -> None:
        """A request was served."""
        self._clean += 1
        if self._doubling:
            growth = 1.0
        elif self._clean > _CLEAN_ROUNDS * self._limit:
            growth = max(1.0, self._limit / 10) / self._limit
        else:
            growth = 1.0 / self._limit
        self._limit = min(self._ceiling, self._limit + growth)
        self._hand_out()

    def refused(self, in_flight: int) -> None:
        """A request was too many; `in_flight` counts it and those before it when it was sent."""
        self._clean = 0
        self._doubling = False
        self._limit = max(1.0, min(self._limit, _DECREASE * in_flight))

    def restart(self) -> None:
        """Begin small after an outage: everyone who waited would come at once."""
        self._limit = float(min(_AFTER_OUTAGE, self._ceiling))
        self._doubling = True

    def _hand_out(self) -> None:
        while self._waiting and self._taken < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self._taken += 1
                place.set_result(None)


class Breaker:
    """Open while the endpoint is down: callers wait, and one of them tries now and then.

    Opens when sixteen different calls failed since the last answer, in their first attempt or
    because nobody listens. Other retries do not count: at the end of a step those of a tool that
    fails for some calls only are all that is left, and would look like an outage. `patience_s`
    after the outage began, waiting ends for everybody: what has been dead for so long is dead, and
    each call would otherwise wait as long again.
    """

    def __init__(self, clock: Clock, *, patience_s: float) -> None:
        self._clock = clock
        self._patience_s = patience_s
        self._failed_calls: set[str] = set()
        self._down_since: float | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._try_at = 0.0
        self._trier: str | None = None
        self._changed: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._down_since is not None

    async def admit(self, call_id: str, *, deadline: float) -> bool:
        """Waits until the call may be sent and returns true, or false when the deadline passes
        first.
        """
        while self._down_since is not None:
            now = self._clock.now()
            if self._trier is None and now >= self._try_at:
                self._trier = call_id
                return True
            give_up = min(deadline, self._down_since + self._patience_s)
            if now >= give_up:
                return False
            await self._change(min(give_up, self._try_at) if self._trier is None else give_up)
        return True

    def answered(self) -> bool:
        """The endpoint is alive. Returns whether this ended an outage."""
        was_open = self.is_open
        self._failed_calls.clear()
        self._down_since, self._pause_s = None, _FIRST_PAUSE_S
        self._tell()
        return was_open

    def failed(self, call_id: str, *, telling: bool) -> None:
        """No answer, or one that says the endpoint is broken; `telling` of the endpoint itself."""
        now = self._clock.now()
        if self.is_open:
            if self._trier == call_id:
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
                self._try_at = now + self._pause_s
                self._tell()
            return
        if telling:
            self._failed_calls.add(call_id)
        if len(self._failed_calls) >= _CALLS_TO_OPEN:
            self._down_since, self._try_at = now, now + self._pause_s

    def abandoned(self, call_id: str) -> None:
        """A call ended without an outcome; if it was the one that tried, another may."""
        if self._trier == call_id:
            self._tell()

    def _tell(self) -> None:
        self._trier = None
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)
        self._changed = None

    async def _change(self, until: float) -> None:
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await settled_by(self._clock, self._changed, deadline=until)
