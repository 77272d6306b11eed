"""The one thread of a process on which it computes with tensors.

Promises that calls run one after another, in their order, beside the event loop. One thread rather
than any of a pool: each thread that has computed keeps OpenMP threads of its own, and with more of
them in a process than cores those that wait sleep between operations instead of spinning, which
costs an eighth of a training step. Where it computes on the processor it yields to everything else,
the engine first of all: a step waits for what is still sampled, and training fills the gaps. Must
not know what is computed.
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
    """Run once, by the thread; the threads that OpenMP gives it later are as nice as it is."""
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
