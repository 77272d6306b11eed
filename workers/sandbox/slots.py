"""The slots of the runner: which waiting program is the next to run.

Promises: a project holds at most its cap of the slots; a slot that is free goes to the project that
holds the fewest, among equals to the one whose last program ended longest ago, and within a project
to its oldest program. A queue has a bound in length and in time, so nobody waits for ever.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from app.settings.sandbox import SandboxSettings

_FEWEST: Final = 4
_PER_CORE: Final = 2


class NoSlot(Exception):
    """A program was not run, because too many of its project wait. The text is for callers."""


@dataclass(frozen=True, slots=True)
class HeldSlot:
    """A slot that a program holds."""

    slot: int
    waited_s: float


@dataclass(slots=True)
class _Share:
    """The slots and the queue of one project."""

    held: int = 0
    waiting: deque[asyncio.Future[int]] = field(default_factory=deque)


class Slots:
    def __init__(self, count: int, *, per_project: int, max_waiting: int) -> None:
        """`max_waiting` programs of each project may wait."""
        self._free = deque(range(count))
        self._per_project = per_project
        self._max_waiting = max_waiting
        self._shares = dict[str, _Share]()
        """The projects that hold or wait; among equals the first is the next."""

    @asynccontextmanager
    async def hold(self, project: str, *, within_s: float) -> AsyncIterator[HeldSlot]:
        """Waits for a slot and holds it. Raises `NoSlot`."""
        started = time.monotonic()
        slot = await self._take(project, within_s)
        try:
            yield HeldSlot(slot, time.monotonic() - started)
        finally:
            self._give_back(project, slot)

    async def _take(self, project: str, within_s: float) -> int:
        share = self._shares.setdefault(project, _Share())
        if len(share.waiting) >= self._max_waiting:
            raise NoSlot(f"is full: {len(share.waiting)} programs of this project wait already")
        place: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        share.waiting.append(place)
        self._grant()
        try:
            async with asyncio.timeout(within_s):
                return await place
        except BaseException as error:
            self._leave(project, place)
            if isinstance(error, TimeoutError):
                raise NoSlot(f"had no free slot within {within_s:g} s") from None
            raise

    def _leave(self, project: str, place: asyncio.Future[int]) -> None:
        """Ends the wait of a caller that goes, also when its slot has just been granted."""
        with suppress(ValueError):
            self._shares[project].waiting.remove(place)
        if place.done() and not place.cancelled():
            self._give_back(project, place.result())
        else:
            self._forget_idle(project)

    def _give_back(self, project: str, slot: int) -> None:
        share = self._shares.pop(project)
        share.held -= 1
        self._shares[project] = share  # behind all that wait
        self._free.append(slot)
        self._forget_idle(project)
        self._grant()

    def _forget_idle(self, project: str) -> None:
        share = self._shares[project]
        if not share.held and not share.waiting:
            del self._shares[project]

    def _grant(self) -> None:
        while self._free and (project := self._next()) is not None:
            share = self._shares[project]
            place = share.waiting.popleft()
            if not place.done():
                share.held += 1
                place.set_result(self._free.popleft())

    def _next(self) -> str | None:
        """Returns the project whose program is the next to run."""
        able = [
            (share.held, project)
            for project, share in self._shares.items()
            if share.waiting and share.held < self._per_project
        ]
        return min(able, key=lambda one: one[0])[1] if able else None


def slots_of(settings: SandboxSettings) -> Slots:
    """Returns the slots that the settings ask for, by the cores of this machine where they do not
    say. A project alone gets three quarters of them, so that another's program finds one free.
    """
    count = settings.parallel or max(_FEWEST, _PER_CORE * (os.cpu_count() or 1))
    per_project = settings.per_project or max(1, count - max(1, count // 4))
    return Slots(count, per_project=per_project, max_waiting=settings.max_waiting)
