"""Threads for long computations of scores, and the shares that organizations have in them.

In the API everybody's trials and calibrations compute in one process: there each organization
computes one score at a time, its projects one after the other, and a few are computed in all, so
that requests of others find a thread and the interpreter. A worker computes for one job and shares
nothing.
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
        self._owners: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextmanager
    def of(self, organization_id: str, project_id: str) -> Iterator[None]:
        """Lets what is computed in this block have the share of a project in its organization's."""
        token = _share.set((self, (project_id, organization_id)))
        try:
            yield
        finally:
            _share.reset(token)

    async def run(self, owners: tuple[str, ...], function: Callable[[], Value]) -> Value:
        """Returns the function's result, computed in the share of `owners`, from the innermost. A
        project waits with one score for its organization's slot, so its siblings' scores come
        between. A caller that goes leaves its thread, which nothing can end, with the slots that it
        holds.
        """
        locks = [self._owners.setdefault(owner, asyncio.Lock()) for owner in owners]
        slots: list[asyncio.Lock | asyncio.Semaphore] = [*locks, self._all]
        held: list[asyncio.Lock | asyncio.Semaphore] = []

        def end(_: object = None) -> None:
            for slot in held:
                slot.release()

        try:
            for slot in slots:
                await slot.acquire()
                held.append(slot)
        except BaseException:
            end()
            raise
        thread = asyncio.ensure_future(asyncio.to_thread(function))
        thread.add_done_callback(end)
        return await asyncio.shield(thread)


_share: ContextVar[tuple[ComputingShares, tuple[str, ...]] | None] = ContextVar(
    "share", default=None
)


async def run_on_scoring_thread(function: Callable[[], Value]) -> Value:
    """Returns the result of a long computation, which a thread makes when the shares of its
    organization and project admit it.
    """
    share = _share.get()
    if share is None:
        return await asyncio.to_thread(function)
    shares, owners = share
    return await shares.run(owners, function)
