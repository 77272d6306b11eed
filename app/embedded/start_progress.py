"""Reports the progress of a start: a line for each part that is ready, with the seconds so far.

Owns the names of the parts. Must not know where the lines are shown.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

_WORDS: Final = {
    "postgres": "database",
    "valkey": "broker",
    "api": "API",
    "runs": "worker of jobs",
    "control": "worker of short tasks",
}


class StartProgress:
    """Shows the lines of one start. The seconds count from the constructor's call."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._started = time.monotonic()
        self._ready = set[str]()

    def begun(self, names: Sequence[str], logs: Path) -> None:
        parts = ", ".join(_WORDS.get(name, name) for name in names)
        self._show(f"starting {parts or 'the API and the workers'}; logs are in {logs}")

    def ready(self, name: str) -> None:
        """Reports a ready child, once."""
        if name not in self._ready:
            self._ready.add(name)
            self.done(_WORDS.get(name, name))

    def done(self, part: str) -> None:
        self._show(f"{part} ready after {time.monotonic() - self._started:.1f} s")
