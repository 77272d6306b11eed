"""The child processes that one Celery task has started, up to a limit."""

import subprocess
import threading
from collections.abc import Sequence


class Children:
    """Child processes, which end with the process that started them: see `parent_watch`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def running(self) -> list[subprocess.Popen[bytes]]:
        """Returns the children that have not exited; collects the others."""
        for child in self._started:
            if child.poll() is not None and child.stdin is not None:
                child.stdin.close()
        self._started = [child for child in self._started if child.returncode is None]
        return self._started

    @property
    def is_full(self) -> bool:
        return len(self.running) >= self._limit

    def start(self, command: Sequence[str]) -> None:
        """Starts a child without waiting. The pipe to its standard input is its parent watch.

        A thread waits for its end, so that it stays no zombie until the next child is started.
        """
        process = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603 - our own program
        self._started.append(process)
        threading.Thread(target=process.wait, daemon=True, name=f"child-{process.pid}").start()
