"""The slots of the runner: which waiting program is the next to run.

Promises: a project holds at most its cap of the slots, and so does an organization with all its
projects; a slot that is free goes to the organization that holds the fewest, among equals to the
one whose last program ended longest ago, within it to a project by the same rule, and within a
project to its oldest program. A queue has a bound in length and in time, so no program waits for
ever.
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

    organization: str
    held: int = 0
    waiting: deque[asyncio.Future[int]] = field(default_factory=deque)


class Slots:
    def __init__(
        self, count: int, *, per_project: int, max_waiting: int, per_organization: int | None = None
    ) -> None:
        """`max_waiting` programs of each project may wait."""
        self._free = deque(range(count))
        self._per_project = per_project
        self._per_organization = count if per_organization is None else per_organization
        self._max_waiting = max_waiting
        self._shares = dict[str, _Share]()
        """The projects with a running or waiting program; among equals the first one is next."""
        self._held = dict[str, int]()
        """Slots of each organization in use; among equals the first one is next."""

    @asynccontextmanager
    async def hold(
        self, project: str, *, within_s: float, organization: str = ""
    ) -> AsyncIterator[HeldSlot]:
        """Waits for a slot and holds it for the block. A project without `organization` counts as
        its own organization. Raises `NoSlot`.
        """
        started = time.monotonic()
        slot = await self._take(project, organization or project, within_s)
        try:
            yield HeldSlot(slot, time.monotonic() - started)
        finally:
            self._give_back(project, slot)

    async def _take(self, project: str, organization: str, within_s: float) -> int:
        share = self._shares.setdefault(project, _Share(organization))
        self._held.setdefault(share.organization, 0)
        if len(share.waiting) >= self._max_waiting:
            raise NoSlot(f"is full: {len(share.waiting)} programs of this project wait already")
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        share.waiting.append(waiter)
        self._grant()
        try:
            async with asyncio.timeout(within_s):
                return await waiter
        except BaseException as error:
            self._leave(project, waiter)
            if isinstance(error, TimeoutError):
                raise NoSlot(f"had no free slot within {within_s:g} s") from None
            raise

    def _leave(self, project: str, waiter: asyncio.Future[int]) -> None:
        """Ends the wait of a caller that disconnects, also when its slot has just been granted."""
        with suppress(ValueError):
            self._shares[project].waiting.remove(waiter)
        if waiter.done() and not waiter.cancelled():
            self._give_back(project, waiter.result())
        else:
            self._forget_idle(project)

    def _give_back(self, project: str, slot: int) -> None:
        share = self._shares.pop(project)
        share.held -= 1
        self._shares[project] = share  # behind all that wait
        self._held[share.organization] = self._held.pop(share.organization) - 1
        self._free.append(slot)
        self._forget_idle(project)
        self._grant()

    def _forget_idle(self, project: str) -> None:
        share = self._shares[project]
        if share.held or share.waiting:
            return
        del self._shares[project]
        if all(other.organization != share.organization for other in self._shares.values()):
            del self._held[share.organization]

    def _grant(self) -> None:
        while self._free and (project := self._next()) is not None:
            share = self._shares[project]
            waiter = share.waiting.popleft()
            if not waiter.done():
                share.held += 1
                self._held[share.organization] += 1
                waiter.set_result(self._free.popleft())

    def _next(self) -> str | None:
        """Returns the project whose program is the next to run."""
        rank = {organization: number for number, organization in enumerate(self._held)}
        able = [
            (self._held[share.organization], rank[share.organization], share.held, number, project)
            for number, (project, share) in enumerate(self._shares.items())
            if share.waiting
            and share.held < self._per_project
            and self._held[share.organization] < self._per_organization
        ]
        return min(able)[-1] if able else None


def slots_of(settings: SandboxSettings) -> Slots:
    """Returns the slots that the settings name, by default a number for the cores of this machine.
    One project gets at most three quarters of them, so that other projects find a free one; one
    organization at most seven eighths, because it can create any number of projects.
    """
    count = settings.parallel or max(_FEWEST, _PER_CORE * (os.cpu_count() or 1))
    per_project = settings.per_project or max(1, count - max(1, count // 4))
    per_organization = settings.per_organization or max(per_project, count - max(1, count // 8))
    return Slots(
        count,
        per_project=per_project,
        per_organization=per_organization,
        max_waiting=settings.max_waiting,
    )
