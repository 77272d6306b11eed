"""Runs a coroutine as a process does, and kills the process before a turn of its event loop.

A process sends and receives in its turns alone, so between two of them everything that it does can
be cut off. One that takes fewer turns ends with exit code 0.
"""

import asyncio
import os
import selectors
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar
from unittest.mock import patch

from anyio import CapacityLimiter, to_process, to_thread
from typing_extensions import override

from app.kit.logs import log_to_stderr
from app.settings import Settings
from tests.support.processes.child_processes import child
from workers.processes.child import end_with_parent
from workers.processes.forking.forks import ForkServer

Report = TypeVar("Report")
_API_FORKS: Final = ForkServer(["app.wiring"])
"""Starts processes that have imported the services of the API."""
_PROGRAM: Final = """
import runpy, sys
sys.path.insert(0, sys.argv[1])  # the tests are not installed
sys.argv = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
_ROOT: Final = Path(__file__).parents[3]
_ORPHANED: Final = 4


async def turns_of(
    module: str, turns: int, *arguments: str, settings: Settings
) -> tuple[bool, str]:
    """Runs a module that calls `run_turns`, for at most so many turns. Returns whether it came to
    its end, and its standard error. Fails if it ended otherwise than by its kill.
    """
    command = ("-c", _PROGRAM, str(_ROOT), module, str(turns), *arguments)
    with child(*command, settings=settings, forks=_API_FORKS) as started:
        code = await started.exit_code()
        said = started.errors.read_text()
        # A server that cannot fork reports the same code as a kill.
        assert started.process.fault is None, started.process.fault
    assert code in (0, -signal.SIGKILL), said
    return code == 0, said


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
