"""Threads for long computations of scores, shared fairly among organizations.

In the API all trials and calibrations compute in one process: each organization computes one score
at a time, its projects alternate, and the total is limited, so that requests of others get a thread
and the interpreter lock. A worker computes for one job and needs no shares.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from app.slots.shared_slots import SharedSlots

Value = TypeVar("Value")
_AT_ONCE: Final = 2
LONG_TEXT: Final = 16_384
"""Characters of texts from which their parsing, or a score of them, is a long computation."""


class ComputingShares:
    """The threads of one process. The number of a project's waiting scores is bounded by its
    requests.
    """

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self.slots = SharedSlots(at_once)

    @contextmanager
    def of(self, organization_id: str, project_id: str) -> Iterator[None]:
        """Counts computations in this block towards a project within its organization."""
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
    """Runs a long computation on a thread once its organization and project have a free slot."""
    share = _share.get()
    if share is None:
        return await asyncio.to_thread(function)
    shares, organization_id, project_id = share
    return await shares.run(organization_id, project_id, function)
