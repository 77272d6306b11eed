"""Threads for long computations of scores, and the shares that projects have in them.

In the API every project's trials compute in one process: there each project computes one score at a
time, and a few are computed in all, so that requests of others find a thread and the interpreter. A
worker computes for one job and shares nothing.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")
_AT_ONCE: Final = 2


class ComputingShares:
    """The threads of one process. A project's waiting scores are bounded by its requests."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._projects: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextmanager
    def of(self, project_id: str) -> Iterator[None]:
        """Lets what is computed in this block have the share of a project."""
        token = _share.set((self, project_id))
        try:
            yield
        finally:
            _share.reset(token)

    async def run(self, project_id: str, function: Callable[[], Value]) -> Value:
        """Returns the function's result. A caller that goes leaves its thread, which nothing can
        end, with the slots that it holds.
        """
        own = self._projects.setdefault(project_id, asyncio.Lock())
        await own.acquire()
        try:
            await self._all.acquire()
        except BaseException:
            own.release()
            raise
        thread = asyncio.ensure_future(asyncio.to_thread(function))

        def end(_: object) -> None:
            self._all.release()
            own.release()

        thread.add_done_callback(end)
        return await asyncio.shield(thread)


_share: ContextVar[tuple[ComputingShares, str] | None] = ContextVar("share", default=None)


async def computed(function: Callable[[], Value]) -> Value:
    """Returns the result of a long computation, which a thread makes in its turn."""
    share = _share.get()
    if share is None:
        return await asyncio.to_thread(function)
    shares, project_id = share
    return await shares.run(project_id, function)
