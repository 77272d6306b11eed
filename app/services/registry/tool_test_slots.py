"""Slots for contract tests of tools.

Each sends up to 50 calls a second to an address of the customer's choice; a hundred of them would
be an attack on that address. Counts in this process. Must not know what a test does.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from app.domain.errors import RateLimited

MAX_TESTS: Final = 2
"""Limit for one project."""
_RETRY_AFTER_S: Final = 10.0


class ToolTestSlots:
    def __init__(self) -> None:
        self._running: Counter[str] = Counter()

    @contextmanager
    def taken(self, project_id: str) -> Iterator[None]:
        """A place, for as long as the block runs. Raises `RateLimited`."""
        if self._running[project_id] >= MAX_TESTS:
            raise RateLimited(
                f"{MAX_TESTS} tool tests of this project are running; wait for one to end.",
                retry_after_s=_RETRY_AFTER_S,
            )
        self._running[project_id] += 1
        try:
            yield
        finally:
            self._running[project_id] -= 1
            if not self._running[project_id]:
                del self._running[project_id]
