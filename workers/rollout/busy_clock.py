"""Measures busy time: the time during which at least one piece of work was in progress."""

import time
from types import TracebackType


class BusyClock:
    """A context manager around each piece of work, in one event loop; overlaps count once."""

    def __init__(self) -> None:
        self._users = 0
        self._since = 0.0
        self._busy_s = 0.0

    def __enter__(self) -> None:
        if self._users == 0:
            self._since = time.monotonic()
        self._users += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._busy_s += time.monotonic() - self._since

    @property
    def is_busy(self) -> bool:
        return self._users > 0

    def reading(self) -> float:
        """Returns the busy seconds so far."""
        running = time.monotonic() - self._since if self._users else 0.0
        return self._busy_s + running


class IdleShare:
    """Reads the share of time in which a clock was not busy."""

    def __init__(self, clock: BusyClock) -> None:
        self._clock = clock
        self._at = time.monotonic()
        self._busy_s = clock.reading()

    def read(self) -> float:
        """Returns the idle share, from 0 to 1, of the time since the last reading."""
        now, busy_s = time.monotonic(), self._clock.reading()
        elapsed = now - self._at
        share = 1.0 - (busy_s - self._busy_s) / elapsed if elapsed > 0 else 0.0
        self._at, self._busy_s = now, busy_s
        return min(1.0, max(0.0, share))
