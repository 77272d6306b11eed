"""The compute thread: the only thread of a process that computes with tensors.

Promises that calls run one after another, in their order, beside the event loop. It is one thread
and no pool: each thread that has computed keeps OpenMP threads of its own, and when a process has
more of them than cores, waiting threads sleep between operations instead of spinning, which costs
an eighth of a training step. On a CPU it has a lower priority than every other process, the engine
first: a step waits for the rollouts still being sampled, and training fills the gaps. Must not know
the computation.
"""

import asyncio
import contextvars
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
NICENESS: Final = 10


def _yielding() -> None:
    """Lowers the thread's priority when it starts; its later OpenMP threads inherit it."""
    import torch  # noqa: PLC0415 - a run's start goes on while torch is loaded beside it

    # Linux alone has priorities of threads. Beside a GPU the thread hardly computes, and must not
    # be late with the next kernel.
    if sys.platform == "linux" and not torch.cuda.is_available():
        thread = threading.get_native_id()
        before = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, max(before, NICENESS))


_THREAD: Final = ThreadPoolExecutor(1, "compute", _yielding)


async def run_on_compute_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs work on the compute thread. As with `asyncio.to_thread`, a cancelled caller leaves its
    call running to its end.
    """
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        _THREAD, lambda: context.run(work, *args, **kwargs)
    )
