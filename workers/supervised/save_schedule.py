"""Decides by time when a run saves its state, so that saving takes a bounded share of the run.

Must not know the content.
"""

import time
from collections.abc import Callable


class SaveSchedule:
    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`share`: largest share of the time that saving may take; 1 saves at every opportunity."""
        self._share = share
        self._clock = clock
        self._next = clock()

    @property
    def due(self) -> bool:
        return self._clock() >= self._next

    def saved(self, seconds: float) -> None:
        """Records that a state was saved, and how long that took."""
        self._next = self._clock() + seconds * (1 / self._share - 1)
