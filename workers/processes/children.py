"""Tracks the child processes that one Celery task has started, up to a limit."""

import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from workers.processes.forking.forks import ChildProcess, Starter


@dataclass(slots=True)
class TaskChild:
    """A child process, which ends with the process that started it: see `parent_watch`."""

    process: ChildProcess
    line: socket.socket
    """The other end of the child's standard input."""
    project_id: str | None
    """The project of its work; `None` for work of all projects."""
    started_at: float = field(default_factory=time.monotonic)
    is_ending: bool = False

    def terminate(self) -> None:
        """Sends SIGTERM, so that the child ends in order."""
        self.is_ending = True
        self.process.signal(signal.SIGTERM)

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.started_at


class Children:
    def __init__(self, limit: int, starter: Starter) -> None:
        self._limit = limit
        self._starter = starter
        self._started: list[TaskChild] = []

    @property
    def running(self) -> list[TaskChild]:
        """Returns the children that have not exited, oldest first."""
        self._started = [child for child in self._started if child.process.returncode is None]
        return self._started

    @property
    def is_full(self) -> bool:
        return len(self.running) >= self._limit

    def start(self, arguments: Sequence[str], *, project_id: str | None = None) -> None:
        """Starts a child without waiting. Its standard input is its parent watch."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = self._starter.start(arguments, stdin=theirs.fileno())
        process.ended.add_done_callback(lambda _: ours.close())
        self._started.append(TaskChild(process, ours, project_id))
