"""Renews a lease while the work under it runs."""

import asyncio
import time
from collections.abc import Awaitable

from app.domain.errors import LeaseLost, Unavailable
from app.settings.runs import LeaseSettings
from app.store.database import Database
from app.store.leases.leases import Lease
from workers.processes.leased_work import LeasedWork


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
