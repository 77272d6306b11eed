"""Slots for work that is limited per project or organization, and in total.

Counts in this process. Must not know the work.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from app.domain.errors import RateLimited

_RETRY_AFTER_S: Final = 1.0
RETRY_LONG_WORK_AFTER_S: Final = 10.0
"""Wait of a caller whose work takes seconds: tests of endpoints, calibrations, generations."""


class ProjectSlots:
    def __init__(
        self,
        limit: int,
        *,
        noun: str,
        retry_after_s: float = _RETRY_AFTER_S,
        owner: str = "project",
        of_all: int | None = None,
    ) -> None:
        """`limit` applies to each owner, `of_all` to all of them together; `owner` and `noun` are
        the names of the owner and of the work in errors.
        """
        self._limit = limit
        self._of_all = of_all
        self._noun, self._owner = noun, owner
        self._retry_after_s = retry_after_s
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, owner_id: str) -> Iterator[None]:
        """Holds a slot while the block runs. Raises `RateLimited`."""
        if self._taken[owner_id] >= self._limit:
            raise RateLimited(
                f"{self._limit} {self._noun} of this {self._owner} are running; wait for one to "
                "end.",
                retry_after_s=self._retry_after_s,
            )
        if self._of_all is not None and self._taken.total() >= self._of_all:
            raise RateLimited(
                f"{self._of_all} {self._noun} of several {self._owner}s are running; wait for one "
                "to end.",
                retry_after_s=self._retry_after_s,
            )
        self._taken[owner_id] += 1
        try:
            yield
        finally:
            self._taken[owner_id] -= 1
            if not self._taken[owner_id]:
                del self._taken[owner_id]
