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

from app.slots.shared_slots import SharedSlots

Value = TypeVar("Value")
_AT_ONCE: Final = 2


class ComputingShares:
    """The threads of one process. A project's waiting scores are bounded by its requests."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self.slots = SharedSlots(at_once)

    @contextmanager
    def of(self, organization_id: str, project_id: str) -> Iterator[None]:
        """Counts computations in this block to the share of a project within its organization."""
        token = _share.set((self, organization_id, project_id))
        try:
            yield
        finally:
            _share.reset(token)

    async def run(
        self, organization_id: str, project_id: str, function: Callable[[], Value]
    ) -> Value:
        return await self.slots.run_on_thread(organization_id, project_id, function)


_share: ContextVar[tuple[ComputingShares, str, str] | None] = ContextVar("share", default=None)


async def run_on_scoring_thread(function: Callable[[], Value]) -> Value:
    """Returns the result of a long computation, which a thread makes when the shares of its
    organization and project admit it.
    """
    share = _share.get()
    if share is None:
        return await asyncio.to_thread(function)
    shares, organization_id, project_id = share
    return await shares.run(organization_id, project_id, function)
