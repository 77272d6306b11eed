"""One claim of one job: takes the lease, starts the child that does the work, renews the lease.

The child runs in its own session and dies with this process: it watches a pipe that only we hold
open. A lease that cannot be renewed in time ends the child, because a newer fence may be at work.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Sequence
from uuid import uuid4

import structlog

from app.domain.errors import LeaseLost, Unavailable
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings import Settings
from app.store.database import Database
from app.store.jobs.claims import ClaimedJob, system
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()

CHILD = (sys.executable, "-m", "workers.runs.child")
TERM_GRACE_S = 10.0


async def supervise(settings: Settings, job_id: str) -> None:
    database = Database(settings.worker_database_url, pool_size=2)
    queue = CeleryJobQueue(settings.redis_url)
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    try:
        claimed = await retry_while_unavailable(lambda: _claim(database, settings, job_id, owner))
        if claimed is None:
            log.info("nothing to claim", job_id=job_id)
            return
        log.info("claimed", job_id=job_id, fence=claimed.fence, attempt=claimed.attempts)
        supervisor = ClaimSupervisor(settings, database, queue, claimed=claimed)
        running = asyncio.ensure_future(supervisor.run())
        # An orderly stop of the worker gives the job back instead of letting its lease run out.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        await running
    finally:
        await queue.aclose()
        await database.dispose()


async def _claim(
    database: Database, settings: Settings, job_id: str, owner: str
) -> ClaimedJob | None:
    async with system(database) as unit:
        return await unit.jobs.claim(
            job_id, owner, settings.lease.lease_s, max_attempts=settings.lease.max_attempts
        )


class ClaimSupervisor:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        queue: JobQueue,
        *,
        claimed: ClaimedJob,
        child: Sequence[str] = CHILD,
    ) -> None:
        self._settings = settings
        self._database = database
        self._queue = queue
        self._claimed = claimed
        self._command = (*child, claimed.job_id, claimed.project_id, str(claimed.fence))

    async def run(self) -> None:
        child = await self._start()
        try:
            await self._watch(child)
        except asyncio.CancelledError:
            await end(child)
            await self._release(orderly=True)
            raise
        await end(child)
        if child.returncode != 0:
            log.warning("run ended early", job_id=self._claimed.job_id, returncode=child.returncode)
            await self._release(orderly=False)

    async def _start(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )

    async def _watch(self, child: Process) -> None:
        """Returns when the child has ended or must end."""
        lease = self._settings.lease
        valid_until = time.monotonic() + lease.lease_s
        exited = asyncio.ensure_future(child.wait())
        while True:
            done, _ = await asyncio.wait({exited}, timeout=lease.heartbeat_s)
            if done:
                return
            started = time.monotonic()
            try:
                await self._renew()
                valid_until = started + lease.lease_s
            except LeaseLost:
                log.warning("lease lost", job_id=self._claimed.job_id)
                return
            except Unavailable:
                if time.monotonic() > valid_until - lease.heartbeat_s:
                    log.warning("lease ran out unrenewed", job_id=self._claimed.job_id)
                    return
                continue

    async def _renew(self) -> None:
        async with system(self._database) as unit:
            await unit.jobs.renew(
                self._claimed.job_id, self._claimed.fence, self._settings.lease.lease_s
            )

    async def _release(self, *, orderly: bool) -> None:
        """Give the job back at once, so that it need not wait for the lease to run out.

        A run that failed twice without progress is not woken here: the sweeper does so, half a
        minute later, and what was in its way may have passed by then.
        """
        job_id, fence = self._claimed.job_id, self._claimed.fence

        async def release() -> int | None:
            async with system(self._database) as unit:
                return await unit.jobs.release(job_id, fence, orderly=orderly)

        with contextlib.suppress(Unavailable):
            attempts = await retry_while_unavailable(release)
            if attempts is not None and attempts <= 1:
                await self._queue.enqueue_run(job_id)


async def end(child: Process) -> None:
    """End a child and everything it started; it may already be gone."""
    for number, grace_s in ((signal.SIGTERM, TERM_GRACE_S), (signal.SIGKILL, TERM_GRACE_S)):
        if child.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), timeout=grace_s)
