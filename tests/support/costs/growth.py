"""Compares a function's processor time on two inputs, in the calling thread."""

import time
from collections.abc import Callable
from typing import Any, Final

_TIMES: Final = 9


def growth(work: Callable[[Any], object], *, small: Any, large: Any) -> float:
    """Returns how many times as long the large input takes, by the fastest of several runs."""
    return _fastest(work, large) / _fastest(work, small)


def _fastest(work: Callable[[Any], object], value: Any) -> float:
    taken = []
    for _ in range(_TIMES):
        started = time.thread_time()
        work(value)
        taken.append(time.thread_time() - started)
    return min(taken)
