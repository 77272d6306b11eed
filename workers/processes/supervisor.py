"""Supervises one claim of one row: takes the lease, starts the child that does the work, renews the
lease, ends the child and releases the lease.

The child runs in a session of its own and dies with this process: it watches a pipe that only this
process has open. A lease that cannot be renewed in time ends the child, because a worker with a
newer fence may already run.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process

import structlog

from app.domain.errors import LeaseLost, Unavailable
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings import LeaseSettings, Settings
from app.store.database import Database
from app.store.leases import Lease
from workers.processes.leased_work import LeasedWork
from workers.processes.renewal import renew_until_lost
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()

TERM_GRACE_S = 10.0


async def supervise(work: LeasedWork, settings: Settings, row_id: str) -> None:
    """Tries to claim a row, and supervises its child until the child ends."""
    database = Database(settings.worker_database_url, pool_size=2)
    queue = CeleryJobQueue(settings.redis_url)
    try:
        lease = await retry_while_unavailable(
            lambda: work.claim(database, row_id, limits=settings.lease)
        )
        if lease is None:
            log.info("nothing to claim", **work.named(row_id))
            return
        log.info("claimed", fence=lease.fence, attempt=lease.attempts, **work.named(row_id))
        supervisor = Supervisor(work, lease, database=database, queue=queue, limits=settings.lease)
        running = asyncio.ensure_future(supervisor.run())
        # An orderly stop of the worker releases the lease instead of letting it run out.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        await running
    finally:
        await queue.aclose()
        await database.dispose()


class Supervisor:
    def __init__(
        self,
        work: LeasedWork,
        lease: Lease,
        *,
        database: Database,
        queue: JobQueue,
        limits: LeaseSettings,
    ) -> None:
        self._work = work
        self._lease = lease
        self._database = database
        self._queue = queue
        self._limits = limits
        self._named = work.named(lease.id)

    async def run(self) -> None:
        child = await asyncio.create_subprocess_exec(
            *self._work.command(self._lease), stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        try:
            await self._watch(child)
        except asyncio.CancelledError:
            await end(child)
            await self._release(orderly=True)
            raise
        finally:
            await end(child)
        if child.returncode != 0:
            log.warning("child failed", returncode=child.returncode, **self._named)
            await self._release(orderly=False)

    async def _watch(self, child: Process) -> None:
        """Renews the lease until the child has exited. Returns early when the lease is lost."""
        exited = asyncio.ensure_future(child.wait())
        renewing = asyncio.ensure_future(
            renew_until_lost(self._work, self._database, self._lease, limits=self._limits)
        )
        try:
            await asyncio.wait({exited, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not exited.done():
                await renewing
        except LeaseLost as error:
            log.warning("lease lost", error=str(error), **self._named)
        finally:
            for task in (exited, renewing):
                task.cancel()
            await asyncio.gather(exited, renewing, return_exceptions=True)

    async def _release(self, *, orderly: bool) -> None:
        """Releases the lease, so that another worker need not wait for its end.

        The first failed attempt sends a notification at once. Later ones leave that to the sweeper,
        which waits, because the cause may have passed by then.
        """

        async def release() -> int | None:
            async with self._work.claims(self._database) as unit:
                return await unit.leases.release(self._lease, orderly=orderly, back_off=True)

        with contextlib.suppress(Unavailable):
            attempts = await retry_while_unavailable(release)
            if attempts is not None and attempts <= 1:
                await self._work.notify(self._queue, self._lease.id)


async def end(child: Process) -> None:
    """Ends a child and everything it started; it may have exited already."""
    for number, grace_s in ((signal.SIGTERM, TERM_GRACE_S), (signal.SIGKILL, TERM_GRACE_S)):
        if child.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), timeout=grace_s)
