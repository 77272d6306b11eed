"""The one thread of a process on which it computes with tensors.

Promises that calls run one after another, in their order, beside the event loop. One thread rather
than any of a pool: each thread that has computed keeps OpenMP threads of its own, and with more of
them in a process than cores those that wait sleep between operations instead of spinning, which
costs an eighth of a training step. Must not know what is computed.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_THREAD: Final = ThreadPoolExecutor(1, "compute")


async def computed(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """As `asyncio.to_thread`: a caller that is cancelled leaves its call running to its end."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        _THREAD, lambda: context.run(work, *args, **kwargs)
    )
