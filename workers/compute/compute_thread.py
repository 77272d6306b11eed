"""The single thread on which a process computes with tensors.

Promises that calls run one after another, in their order, beside the event loop. One thread instead
of a pool, because each thread that computes retains its own OpenMP threads: with more of them in a
process than cores, waiting threads sleep between operations instead of spinning, which costs an
eighth of a training step. On a machine without a GPU the thread has a lower priority than all other
work, above all the engine: a step waits for its rollouts, and training fills the gaps. Must not
know the computation.
"""

import asyncio
import contextvars
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from workers.compute.processor import is_accelerated
from workers.progress import PROGRESS

P = ParamSpec("P")
R = TypeVar("R")
NICENESS: Final = 10
"""Niceness of the thread above that of its process."""
_NICEST: Final = 19


def _lower_priority() -> None:
    """Lowers the priority of the calling thread; its later OpenMP threads inherit the priority."""
    # This loads torch, while the start of a run continues beside it.
    # Only Linux has priorities per thread. With a GPU the thread hardly computes, and a delay would
    # postpone the next kernel.
    if sys.platform == "linux" and not is_accelerated():
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(niceness + NICENESS, _NICEST))


_THREAD: Final = ThreadPoolExecutor(1, "compute", _lower_priority)
_calls: set[Future[Any]] = set()


async def run_on_compute_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs `work` on the compute thread. As with `asyncio.to_thread`, cancelling the caller does
    not stop the call.
    """
    context = contextvars.copy_context()
    call = _THREAD.submit(lambda: context.run(work, *args, **kwargs))
    _calls.add(call)
    call.add_done_callback(_calls.discard)
    result = await asyncio.wrap_future(call)
    PROGRESS.mark("computation done")
    return result


def is_computing() -> bool:
    """Returns whether a call runs on the compute thread or waits for it."""
    return bool(_calls)
