"""Slots of one process that organizations and their projects share. Callers wait for one.

Many callers of one project therefore delay only that project, and many projects only their
organization.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import copy_context
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from app.kit.errors import RateLimited

Value = TypeVar("Value")


class SharedSlots:
    def __init__(
        self, of_all: int | None, *, of_organization: int = 1, of_project: int = 1
    ) -> None:
        """Without `of_all`, the number of organizations with a slot is not limited."""
        self._of_project, self._of_organization = of_project, of_organization
        self._all = None if of_all is None else asyncio.Semaphore(of_all)
        self._projects: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._organizations: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def acquire(self, organization_id: str, project_id: str) -> Callable[[], None]:
        own = self._projects.setdefault(project_id, asyncio.Semaphore(self._of_project))
        organization = self._organizations.setdefault(
            organization_id, asyncio.Semaphore(self._of_organization)
        )
        with ExitStack() as held:
            for slots in (own, organization, self._all):
                if slots is not None:
                    await slots.acquire()
                    held.callback(slots.release)
            return held.pop_all().close

    @asynccontextmanager
    async def taken(self, organization_id: str, project_id: str) -> AsyncIterator[None]:
        free = await self.acquire(organization_id, project_id)
        try:
            yield
        finally:
            free()

    async def run_on_thread(
        self,
        organization_id: str,
        project_id: str,
        function: Callable[[], Value],
        *,
        threads: Executor | None = None,
    ) -> Value:
        """The thread keeps the slot until it ends, also if the caller is cancelled."""
        free = await self.acquire(organization_id, project_id)
        thread = asyncio.get_running_loop().run_in_executor(threads, copy_context().run, function)
        thread.add_done_callback(lambda _: free())
        return await asyncio.shield(thread)

    def __len__(self) -> int:
        """Returns the number of projects that wait or hold a slot."""
        return len(self._projects)


RETRY_LONG_WORK_AFTER_S: Final = 10.0
"""Wait of a caller whose work takes seconds: tests of endpoints, calibrations, generations."""


class ProjectSlots:
    def __init__(
        self,
        limit: int,
        *,
        noun: str,
        retry_after_s: float = 1.0,
        owner: str = "project",
        of_all: int | None = None,
    ) -> None:
        """`limit` applies to each owner, `of_all` to all of them together."""
        self._limit, self._of_all = limit, of_all
        self._noun, self._owner = noun, owner
        self._retry_after_s = retry_after_s
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, owner_id: str) -> Iterator[None]:
        running = None
        if self._taken[owner_id] >= self._limit:
            running = f"{self._limit} {self._noun} of this {self._owner}"
        elif self._of_all is not None and self._taken.total() >= self._of_all:
            running = f"{self._of_all} {self._noun} of several {self._owner}s"
        if running is not None:
            message = f"{running} are running; wait for one to end."
            raise RateLimited(message, retry_after_s=self._retry_after_s)
        self._taken[owner_id] += 1
        try:
            yield
        finally:
            self._taken[owner_id] -= 1
            if not self._taken[owner_id]:
                del self._taken[owner_id]
