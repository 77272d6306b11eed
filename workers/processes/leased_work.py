"""Describes one kind of work of child processes under a lease, such as jobs or eval runs. A kind
needs a table with the columns of `QueuedRow`, a subclass of `QueuedRows`, and a module that runs a
child (`workers.processes.child`). Everything else in this room works for all kinds.
"""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import structlog

from app.accounts.usage import Quotas
from app.across_tenants import ClaimUnitOfWork
from app.database import Database
from app.kit.errors import LeaseLost, Unavailable
from app.kit.job_queue import JobQueue
from app.kit.leases import Lease, QueuedRows
from app.kit.telemetry import SpanName
from app.settings import LeaseSettings, RetentionSettings, Settings
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LeasedWork:
    noun: str
    id_name: str
    claims: Callable[[Database], ClaimUnitOfWork[QueuedRows]]
    most_held: Callable[[Quotas], int]
    child: tuple[str, ...]
    notify: Callable[[JobQueue, str], Awaitable[None]]
    queue: str
    resend_after_s: float
    kept_for: Callable[[RetentionSettings], timedelta] | None = None
    """Age at which a row that failed for good expires; `None` for a kind that keeps them."""
    claim_span: SpanName | None = None
    """Name of the span of a claim, for a kind whose child renews its own lease."""
    is_resumable: bool = True
    """Whether a claim continues an earlier one, so that a child may have to release its slot."""

    async def claim(self, database: Database, settings: Settings) -> list[Lease]:
        """Claims the row that is next among all projects, if there is one; see `app.kit.leases`."""
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        async with self.claims(database).giving_up_after(settings.lease.heartbeat_s) as unit:
            lease = await unit.leases.claim_next(
                owner,
                settings.lease.lease_s,
                max_attempts=settings.lease.max_attempts,
                most_held=self.most_held(settings.quotas),
            )
        if lease is None:
            log.info("nothing to claim", noun=self.noun)
            return []
        return [lease]

    async def renew(self, database: Database, lease: Lease, *, limits: LeaseSettings) -> bool:
        """Extends the lease, and returns False when its holder has ended the row. Raises
        `LeaseLost`, and `Unavailable` while another transaction has the row locked, such as one of
        a process that was stopped.
        """
        async with self.claims(database).giving_up_after(limits.heartbeat_s) as unit:
            try:
                await unit.leases.renew(lease, limits.lease_s)
            except LeaseLost:
                if not await unit.leases.ended_by_holder(lease):
                    raise
                return False
        return True

    def named(self, row_id: str) -> dict[str, str]:
        return {self.id_name: row_id}

    def command(self, lease: Lease) -> tuple[str, ...]:
        return (*self.child, lease.id, lease.project_id, str(lease.fence))


def python_module(name: str) -> tuple[str, ...]:
    return ("-m", name)


POLL_S: Final = 1.0


Claim = Callable[[], Awaitable[Sequence[Lease]]]
Start = Callable[[Lease], Coroutine[Any, Any, None] | None]
"""Returns the coroutine that this process has to run; `None` if a child outlives the loop."""


class ClaimLoop:
    """Each claim waits up to `patience_s` for the database, and then raises `Unavailable`."""

    def __init__(self, claim: Claim, start: Start, *, patience_s: float) -> None:
        self._claim = claim
        self._start = start
        self._patience_s = patience_s
        self._running: set[asyncio.Task[None]] = set()

    async def claim(self) -> bool:
        leases = await retry_while_unavailable(self._claim, patience_s=self._patience_s)
        for lease in leases:
            rest = self._start(lease)
            if rest is not None:
                self._running.add(asyncio.create_task(rest))
        return bool(leases)

    async def run_once(self) -> None:
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
        done, self._running = await asyncio.wait(
            self._running, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _cancel(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


async def renew_until_end(
    work: LeasedWork, database: Database, lease: Lease, *, limits: LeaseSettings
) -> None:
    """Renews the lease at every heartbeat, and returns once its holder has ended the row. Raises
    `LeaseLost`: the row was cancelled, deleted or claimed again, or until shortly before the end of
    the lease the database was unavailable or the row locked.
    """
    valid_until, pause_s = time.monotonic() + limits.lease_s, limits.heartbeat_s
    while True:
        await asyncio.sleep(pause_s)
        started = time.monotonic()
        try:
            if not await work.renew(database, lease, limits=limits):
                return
            valid_until, pause_s = started + limits.lease_s, limits.heartbeat_s
        except Unavailable:
            if time.monotonic() > valid_until - limits.heartbeat_s:
                raise LeaseLost(f"{lease.id} could not be renewed in time") from None
            pause_s = limits.heartbeat_s / 4


async def run_while_renewed(body: Awaitable[object], renewing: Awaitable[None]) -> None:
    """Awaits `body` while `renewing` runs beside it. Raises `LeaseLost` when the renewal does, and
    cancels `body` then. A renewal that returned has nothing left to renew, and `body` ends alone.
    """
    tasks = [asyncio.ensure_future(body), asyncio.ensure_future(renewing)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not tasks[0].done():
            await tasks[1]
        await tasks[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
