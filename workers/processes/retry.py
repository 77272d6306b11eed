"""Repeats idempotent operations while the database or the storage is unavailable."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from app.kit.errors import Unavailable

log = structlog.get_logger()
Result = TypeVar("Result")

PATIENCE_S = 300.0
_FIRST_DELAY_S, _MAX_DELAY_S = 0.1, 2.0


async def retry_while_unavailable(
    operation: Callable[[], Awaitable[Result]], *, patience_s: float = PATIENCE_S
) -> Result:
    """`operation` is idempotent. Raises the last `Unavailable` once `patience_s` have passed."""
    give_up_at, delay_s = time.monotonic() + patience_s, _FIRST_DELAY_S
    while True:
        try:
            return await operation()
        except Unavailable as error:
            if time.monotonic() + delay_s > give_up_at:
                raise
            log.warning("unavailable, waiting", error=str(error), delay_s=delay_s)
        await asyncio.sleep(delay_s)
        delay_s = min(2 * delay_s, _MAX_DELAY_S)
