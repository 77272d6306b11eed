"""The child processes that one Celery task has started, up to a limit."""

import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Child:
    """A child process, which ends with the process that started it: see `parent_watch`."""

    process: subprocess.Popen[bytes]
    project_id: str | None
    """The project that it works for; `None` if it works for all."""
    started_at: float = field(default_factory=time.monotonic)
    is_ending: bool = False

    def terminate(self) -> None:
        """Asks the child to end in order."""
        self.is_ending = True
        self.process.terminate()

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.started_at


class Children:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._started: list[Child] = []

    @property
    def running(self) -> list[Child]:
        """Returns the children that have not exited, oldest first; collects the others."""
        for child in self._started:
            if child.process.poll() is not None and child.process.stdin is not None:
                child.process.stdin.close()
        self._started = [child for child in self._started if child.process.returncode is None]
        return self._started

    @property
    def is_full(self) -> bool:
        return len(self.running) >= self._limit

    def start(self, command: Sequence[str], *, project_id: str | None = None) -> None:
        """Starts a child without waiting. The pipe to its standard input is its parent watch.

        A thread waits for its end, so that it stays no zombie until the next child is started.
        """
        process = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - our own program
        self._started.append(Child(process, project_id))
        threading.Thread(target=process.wait, daemon=True, name=f"child-{process.pid}").start()
