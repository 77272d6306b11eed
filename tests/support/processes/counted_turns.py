"""Runs a coroutine as a process does, and kills the process before a turn of its event loop.

A process sends and receives in its turns alone, so between two of them everything that it does can
be cut off. One that takes fewer turns ends with exit code 0.
"""

import asyncio
import os
import selectors
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar
from unittest.mock import patch

from anyio import CapacityLimiter, to_process, to_thread
from typing_extensions import override

from app.logs import log_to_stderr
from workers.processes.forking.forks import ForkServer
from workers.processes.parent_watch import end_with_parent

Report = TypeVar("Report")
API_FORKS: Final = ForkServer(["app.factory.project", "tests.support.processes.counted_turns"])
"""Starts processes that have the services of the API."""
_ORPHANED: Final = 4


class _CountedTurns(selectors.DefaultSelector):
    def __init__(self, last: int) -> None:
        super().__init__()
        self._left = last

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().select(timeout)


async def _in_thread(
    read: Callable[..., Report], *arguments: object, cancellable: bool, limiter: CapacityLimiter
) -> Report:
    """Reads files here: a process for it would import the application again, for seconds."""
    return await to_thread.run_sync(
        read, *arguments, abandon_on_cancel=cancellable, limiter=limiter
    )


def run_turns(work: Coroutine[Any, Any, None], last: int) -> None:
    """Runs `work` for at most so many turns."""
    end_with_parent(_ORPHANED)
    log_to_stderr()
    turns = _CountedTurns(last)
    with (
        patch.object(to_process, "run_sync", _in_thread),
        asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner,
    ):
        runner.run(work)
