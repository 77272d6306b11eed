"""The suite's one deadline: the longest that a test waits for a state.

It waits for a state, and this deadline only ends the wait for one that never comes. It is shorter
than the limit of one test in `pyproject.toml`, so that the message names the state and not the test
alone.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

PATIENCE_S: Final = 600.0


def wait_for(
    condition: Callable[[], bool],
    *,
    what: str = "the state",
    timeout_s: float = PATIENCE_S,
    interval_s: float = 0.05,
) -> None:
    """Blocks until the condition holds. Raises `TimeoutError` with `what` never came."""
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"{what} did not happen in {timeout_s:.0f} s")
        time.sleep(interval_s)


async def until(
    condition: Callable[[], bool | Awaitable[bool]], *, what: str = "the state"
) -> None:
    """Waits until the condition, which may be a coroutine function, holds."""
    give_up_at = time.monotonic() + PATIENCE_S
    while True:
        answer = condition()
        if answer if isinstance(answer, bool) else await answer:
            return
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"{what} did not happen in {PATIENCE_S:.0f} s")
        await asyncio.sleep(0.02)
