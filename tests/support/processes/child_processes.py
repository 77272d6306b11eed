"""Child processes of tests, forked from servers that live as long as this process. One of them has
loaded torch, for some ten seconds of processor time; the other is for children that need none.
"""

import asyncio
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from app.settings import Settings, inherited_environment, to_environment
from tests.support.patience import PATIENCE_S
from workers.processes.forking.forks import ChildProcess, ForkServer

FORKS: Final = ForkServer(
    [
        "workers.job_child",
        "workers.methods.reinforcement.training",
        "workers.methods.supervised.training",
        "workers.learning.lora_trainer",
        "workers.evals.child",
        "workers.exports.child",
        "workers.trackers.child",
        "workers.webhooks.child",
    ]
)

CONTROL_FORKS: Final = ForkServer(
    ["workers.evals.child", "workers.trackers.child", "workers.webhooks.child"]
)


@cache
def warm_up() -> None:
    """Waits until the server has imported its modules, for tests of leases shorter than that."""
    with child("-c", "", settings=None) as first:
        first.process.ended.result(timeout=PATIENCE_S)


@dataclass(frozen=True, slots=True)
class StartedChild:
    process: ChildProcess
    line: socket.socket
    """The other end of the child's standard input."""
    errors: Path
    """Standard error of the child."""

    async def exit_code(self) -> int:
        return await ended(self.process)


async def ended(process: ChildProcess) -> int:
    """Waits for the end of a child, and returns its exit code."""
    return await asyncio.wait_for(asyncio.wrap_future(process.ended), timeout=PATIENCE_S)


def killed(process: ChildProcess) -> None:
    """Kills a child, and waits for its end."""
    process.started.result(timeout=PATIENCE_S)
    process.signal(signal.SIGKILL)
    process.ended.result(timeout=PATIENCE_S)


@contextmanager
def child(
    *arguments: str, settings: Settings | None, forks: ForkServer = FORKS
) -> Iterator[StartedChild]:
    """Runs `python ARGUMENTS` with these settings, and kills it at the end of the block."""
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.NamedTemporaryFile() as errors:
        process = forks.start(
            arguments,
            stdin=theirs.fileno(),
            stderr=errors.fileno(),
            environment={
                **inherited_environment(),
                **({} if settings is None else to_environment(settings)),
            },
        )
        theirs.close()
        try:
            yield StartedChild(process, ours, Path(errors.name))
        finally:
            process.signal(signal.SIGKILL)
            process.ended.result(timeout=PATIENCE_S)
