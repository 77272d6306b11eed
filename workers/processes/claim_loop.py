"""Claims rows of every kind and runs the work on each of them beside the others.

Owns the pulse of claims, the wait while the database is unavailable, and the set of running work.
Promises: work that still runs when the loop ends is cancelled, and has ended before the loop
returns; so a supervised child has ended and its lease is released. Must not know the rows, nor if a
coroutine or a child process works on one.
"""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any, Final, Protocol

from app.store.leases.leases import Lease
from workers.processes.retry import retry_while_unavailable

POLL_S: Final = 1.0


class Claimant(Protocol):
    """Claims rows of one kind and starts the work on them."""

    async def claim(self) -> Sequence[Lease]:
        """Claims rows that may be worked on now. Raises `Unavailable`; the loop repeats it then."""

    def start(self, lease: Lease) -> Coroutine[Any, Any, None] | None:
        """Starts the work on a row. Returns the coroutine that this process has to run for it, or
        `None` if a child process that outlives the loop does all of the work.
        """


class ClaimLoop:
    """Waits up to `patience_s` for a database that is unavailable in each claim, which then raises
    `Unavailable`.
    """

    def __init__(self, claimant: Claimant, *, patience_s: float) -> None:
        self._claimant = claimant
        self._patience_s = patience_s
        self._running: set[asyncio.Task[None]] = set()

    async def claim(self) -> bool:
        """Claims once and starts the work on each row. Returns whether there was one."""
        leases = await retry_while_unavailable(self._claimant.claim, patience_s=self._patience_s)
        for lease in leases:
            rest = self._claimant.start(lease)
            if rest is not None:
                self._running.add(asyncio.create_task(rest))
        return bool(leases)

    async def run_once(self) -> None:
        """Claims once and waits until the work on the claimed rows is done."""
        try:
            await self.claim()
            while self._running:
                await self._wait(timeout_s=None)
        finally:
            await self._cancel()

    async def run(self, *, idle_s: float) -> None:
        """Claims until no row was claimed for `idle_s`; with 0, until each claimed row is done."""
        busy_until = time.monotonic() + idle_s
        try:
            while True:
                await self.claim()
                if self._running:
                    busy_until = time.monotonic() + idle_s
                    # No longer than until the next claim is due.
                    await self._wait(timeout_s=POLL_S)
                elif time.monotonic() >= busy_until:
                    return
                else:
                    await asyncio.sleep(POLL_S)
        finally:
            await self._cancel()

    async def _wait(self, *, timeout_s: float | None) -> None:
        """Waits until the work on one row is done. Raises what it raised."""
        done, self._running = await asyncio.wait(
            self._running, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _cancel(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
