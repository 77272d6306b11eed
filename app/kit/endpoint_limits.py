"""Limits of an endpoint's calls: their rate, their number at once, and a breaker of outages."""

import asyncio
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import Final, Protocol

from app.kit.endpoints import Absence


class Clock(Protocol):
    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def settled_by(clock: Clock, future: asyncio.Future[None], *, deadline: float) -> bool:
    if future.done():
        return True
    timer = asyncio.ensure_future(clock.sleep(max(0.0, deadline - clock.now())))
    try:
        await asyncio.wait({future, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return future.done()


_LOWEST_RATE: Final = 1e-9
_HIGHEST_RATE: Final = 1e6
"""Bounds of a declared rate, beyond which intervals and queue lengths are not representable."""


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


CEILING: Final = 512
_START: Final = 64
_AFTER_OUTAGE: Final = 8
_CLEAN_ROUNDS: Final = 3
_DECREASE: Final = 0.9
CALLS_TO_OPEN: Final = 16
NO_SERVER_PATIENCE_S: Final = 60.0
"""Longest patience where few calls found no server: their requests may have made it fail."""
UNKNOWN_PATIENCE_S: Final = 120.0
"""Longest patience with an endpoint that has never answered: its address may be wrong."""
MARGIN_S: Final = 10.0
"""Time before the end of the patience in which a job can still be put back, and lose no call."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 30.0
PROBE_S: Final = 30.0
"""Time after which a probe without an outcome keeps no other call from probing."""


@dataclass(frozen=True, slots=True)
class OutagePatience:
    """Makes calls wait until an endpoint is back, however few of them there are."""

    is_known: bool
    """False if the endpoints may never have answered."""


class ConcurrencySlots:
    """Limits the requests in flight: the limit grows with served requests and shrinks when the
    endpoint refuses one.

    Additive increase, multiplicative decrease. A refusal (429, 503, timeout) of a request that was
    the n-th in flight caps the slots at 0.9 n: a limit that is far too high is correct after one
    round, and a burst of refusals caused by one excess request costs no more than a single refusal.
    Slots double per round until the first refusal, then grow by one per round, and after three
    rounds without a refusal by a tenth.
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
        if self._taken < self.limit and (first or not self._waiting):
            self._taken += 1
            return True
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(slot)
        else:
            self._waiting.append(slot)
        try:
            if await settled_by(clock, slot, deadline=deadline):
                return True
            self._waiting.remove(slot)
        except asyncio.CancelledError:
            if slot.done():
                self.leave()
            else:
                self._waiting.remove(slot)
            raise
        return False

    def leave(self) -> None:
        self._taken -= 1
        self._hand_out()

    def served(self) -> None:
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
        """`in_flight`: requests in flight when this one was sent, itself included."""
        self._clean = 0
        self._doubling = False
        self._limit = max(1.0, min(self._limit, _DECREASE * in_flight))

    def restart(self) -> None:
        """Resets to few slots after an outage: otherwise all waiting callers would send at once."""
        self._limit = float(min(_AFTER_OUTAGE, self._ceiling))
        self._doubling = True

    def _hand_out(self) -> None:
        while self._waiting and self._taken < self.limit:
            slot = self._waiting.popleft()
            if not slot.done():
                self._taken += 1
                slot.set_result(None)


class Breaker:
    """Circuit breaker: open while the endpoint is down. Callers wait, and a single one of them
    probes the endpoint after each pause.

    Opens when sixteen different calls failed since the last answer, in their first attempt or
    because the endpoint was unreachable. Fewer calls, `enough` of them, open it if each found
    nothing that listens; or, in doubt, if each, and at least two, found no server behind it, and no
    other call was answered after its first failure. Each doubt that no probe confirmed halves the
    patience with the next: their requests make the server fail. Other retries do not count: at the
    end of a step the only calls left may be retries of a tool that fails for some calls only, which
    would look like an outage. `patience_s` after the outage began, one caller looks once more, and
    all stop waiting: otherwise each call would wait that long again for an endpoint that is
    unlikely to recover.
    """

    def __init__(self, clock: Clock, *, patience_s: float, is_known: bool = True) -> None:
        """`is_known` is false for an endpoint that may never have answered."""
        self._clock, self._patience_s, self.is_known = clock, patience_s, is_known
        self._failed_calls: set[str] = set()
        self._found_nothing: set[str] = set()
        self._found_no_server: set[str] = set()
        self._failed_at: dict[str, float] = {}
        """The time of the first failure of each pending call that has failed."""
        self._answered_at = -math.inf
        self._is_absent = False
        self._is_doubtful = False
        self._down_since: float | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._probe_at = 0.0
        self._prober: str | None = None
        self._probed_at = 0.0
        self._doubt_s = NO_SERVER_PATIENCE_S
        self._gave_up = False
        self._changed: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._down_since is not None

    @property
    def has_patience(self) -> bool:
        return self._clock.now() < (self.patience_ends or -math.inf)

    @property
    def patience_ends(self) -> float | None:
        if self._down_since is None:
            return None
        most = self._patience_s if self.is_known else min(self._patience_s, UNKNOWN_PATIENCE_S)
        return self._down_since + (min(most, self._doubt_s) if self._is_doubtful else most)

    def overdue_s(self, limit_s: float) -> float | None:
        """Returns the seconds since the outage began, from `limit_s` on, or once its callers will
        soon give up; `None` before.
        """
        if self._down_since is None or (ends := self.patience_ends) is None:
            return None
        down_s, patience_s = self._clock.now() - self._down_since, ends - self._down_since
        if not self._is_doubtful:  # in doubt its callers try again, and do not give up
            limit_s = min(limit_s, patience_s - min(MARGIN_S, patience_s / 4))
        return down_s if down_s >= limit_s else None

    @property
    def never_came_up(self) -> bool:
        """True for an endpoint that never answered and was down when its callers gave up."""
        return self._gave_up and not self.is_known

    async def wait_to_send(self, call_id: str, *, deadline: float) -> bool:
        """Waits until the call may be sent, or returns false at its deadline or out of patience."""
        while (ends := self.patience_ends) is not None:
            now = self._clock.now()
            if self._is_doubtful and now >= ends:
                self._doubt_s /= 2
                self._close()  # the requests under way are at fault, not the endpoint
                return True
            if now >= self._next_probe_at:
                self._prober, self._probed_at = call_id, now
                return True
            is_last_look = self._prober is not None and 0 <= self._probed_at - ends < PROBE_S
            give_up_at = deadline if is_last_look else min(deadline, ends)
            if now >= give_up_at:
                self._gave_up = self._gave_up or now >= ends
                return False
            if self._changed is None:
                self._changed = asyncio.get_running_loop().create_future()
            until = min(give_up_at, self._next_probe_at)
            await settled_by(self._clock, self._changed, deadline=until)
        return True

    @property
    def _next_probe_at(self) -> float:
        return self._probe_at if self._prober is None else self._probed_at + PROBE_S

    def _close(self) -> None:
        self._answered_at = self._clock.now()
        self._failed_calls.clear()
        self._found_nothing.clear()
        self._found_no_server.clear()
        self._down_since, self._pause_s, self._gave_up = None, _FIRST_PAUSE_S, False
        self._notify()

    def answered(self) -> bool:
        was_open = self.is_open
        self.is_known = True
        self._close()
        return was_open

    def failed(
        self,
        call_id: str,
        *,
        counts: bool,
        absence: Absence | None = None,
        enough: int = CALLS_TO_OPEN,
        timed_out: bool = False,
    ) -> None:
        """Records a failed attempt. `counts` is true if it indicates a fault of the endpoint as a
        whole rather than of one call; `timed_out` if nothing was answered.
        """
        if self.is_open and absence is None and self._is_absent and not timed_out:
            self.answered()  # a server is there again, and fails
        if self.is_open:
            if self._prober == call_id:
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
                now = self._clock.now()
                self._probe_at = now + self._pause_s
                if (ends := self.patience_ends) is not None and now < ends:
                    self._probe_at = min(self._probe_at, ends)
                self._notify()
            return
        if counts:
            self._failed_calls.add(call_id)
        if absence is Absence.OF_LISTENER:
            self._found_nothing.add(call_id)
        # A call that failed before another one was answered is at fault itself.
        if absence is not None and self._answered_at < self._failed_at.setdefault(
            call_id, self._clock.now()
        ):
            self._found_no_server.add(call_id)
        is_away = len(self._found_nothing) >= enough
        are_many = len(self._failed_calls) >= CALLS_TO_OPEN
        self._is_absent = is_away or len(self._found_no_server) >= max(2, enough)
        self._is_doubtful = self._is_absent and not is_away and not are_many
        if self._is_absent or are_many:
            self._down_since = self._clock.now()
            self._probe_at = self._down_since + self._pause_s

    def ended(self, call_id: str) -> None:
        self._failed_at.pop(call_id, None)
        self._found_nothing.discard(call_id)
        self._found_no_server.discard(call_id)

    def abandoned(self, call_id: str) -> None:
        """Records that a call ended without an outcome; if it was the probe, another may probe."""
        if self._prober == call_id:
            self._notify()

    def _notify(self) -> None:
        self._prober = None
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)
        self._changed = None
