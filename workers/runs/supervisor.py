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
from uuid import uuid4

import structlog

from app.domain.errors import LeaseLost, Unavailable
from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings import Settings
from app.store.database import Database
from app.store.system import ClaimedJob, system
from workers.runs.patience import patiently

log = structlog.get_logger()

CHILD_MODULE = "workers.runs.child"
TERM_GRACE_S = 10.0


async def supervise(settings: Settings, job_id: str) -> None:
    database = Database(settings.worker_database_url, pool_size=2)
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    try:
        claimed = await patiently(lambda: _claim(database, settings, job_id, owner))
        if claimed is None:
            log.info("nothing to claim", job_id=job_id)
            return
        log.info("claimed", job_id=job_id, fence=claimed.fence, attempt=claimed.attempts)
        queue = CeleryJobQueue(settings.redis_url)
        await ClaimSupervisor(settings, database, queue, claimed).run()
    finally:
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
        self, settings: Settings, database: Database, queue: JobQueue, claimed: ClaimedJob
    ) -> None:
        self._settings = settings
        self._database = database
        self._queue = queue
        self._claimed = claimed

    async def run(self) -> None:
        child = await self._start()
        try:
            await self._watch(child)
        finally:
            await end(child)
        if child.returncode == 0:
            return
        log.warning("run ended early", job_id=self._claimed.job_id, returncode=child.returncode)
        with contextlib.suppress(LeaseLost, Unavailable):
            await self._release()

    async def _start(self) -> Process:
        claimed = self._claimed
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            CHILD_MODULE,
            claimed.job_id,
            claimed.project_id,
            str(claimed.fence),
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
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

    async def _release(self) -> None:
        """Give the job back at once, so that it need not wait for the lease to run out."""
        job_id, fence = self._claimed.job_id, self._claimed.fence

        async def release() -> None:
            async with system(self._database) as unit:
                await unit.jobs.release(job_id, fence)

        await patiently(release)
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
