"""Takes the due steps of sessions as a process of the API does, and is killed before a turn of its
event loop: `python -m tests.support.coach.killed_step TURN`. A process that takes fewer turns ends
with exit code 0.

A process sends and receives in its turns alone, so between two of them everything that it does can
be cut off.
"""

import asyncio
import os
import selectors
import signal
import sys
from collections.abc import Callable
from typing import TypeVar
from unittest.mock import patch

from anyio import CapacityLimiter, to_process, to_thread
from typing_extensions import override

from app.factory.process import ProcessContext
from app.factory.project import coach_runner
from app.logs import log_to_stderr
from app.settings.settings import load_settings
from workers.processes.parent_watch import end_with_parent

Report = TypeVar("Report")
_ORPHANED = 4


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


async def _take() -> None:
    context = ProcessContext.of(load_settings())
    with patch.object(to_process, "run_sync", _in_thread):
        await coach_runner(context).take_due_steps()
    await context.aclose()


def main(last: int) -> None:
    end_with_parent(_ORPHANED)
    log_to_stderr()
    turns = _CountedTurns(last)
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        runner.run(_take())


if __name__ == "__main__":
    main(int(sys.argv[1]))
