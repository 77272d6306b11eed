"""The supervisor with real child processes that do something simple."""

import asyncio
import contextlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.jobs.jobs import Job, JobStatus, StopRequest
from app.gateways.job_queue import InMemoryJobQueue
from app.settings import LeaseSettings
from tests.support.installation import wait_for
from tests.support.runs.world import World
from workers.processes.supervisor import Supervisor
from workers.processes.vitals import Patience
from workers.runs.leased_jobs import JOBS

WAIT = "import sys, pathlib; pathlib.Path({0!r}).touch(); sys.stdin.read()"
PARENT_AND_CHILD = """
import subprocess, sys, pathlib
child = subprocess.Popen(["sleep", "60"])
pathlib.Path({0!r}).write_text(str(child.pid))
sys.stdin.read()
"""


async def _supervisor(
    world: World, job: Job, code: str, *, lease_s: float = 30.0
) -> tuple[Supervisor, InMemoryJobQueue]:
    lease = await world.claim(job, lease_s=lease_s)
    assert lease is not None
    queue, work = InMemoryJobQueue(), replace(JOBS, child=(sys.executable, "-c", code))
    limits = LeaseSettings(lease_s=lease_s)
    patience = Patience.of(world.settings)
    supervisor = Supervisor(
        work, lease, database=world.worker, queue=queue, limits=limits, patience=patience
    )
    return supervisor, queue


async def _until(path: Path) -> None:
    await asyncio.to_thread(wait_for, path.exists, timeout_s=10, what=path.name)


def _gone(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True


async def test_no_notification_follows_a_child_that_succeeded(world: World) -> None:
    job = await world.job()
    supervisor, queue = await _supervisor(world, job, "")
    await supervisor.run()
    assert queue.runs == []
    assert await world.claim(job) is None  # still leased: only the child writes the end state


async def test_a_failed_child_releases_the_lease_and_only_the_first_failure_notifies(
    world: World,
) -> None:
    job = await world.job()
    first, queue = await _supervisor(world, job, "raise SystemExit(1)")
    await first.run()
    assert queue.runs == [job.id]
    second, queue = await _supervisor(world, job, "raise SystemExit(1)")
    await second.run()
    assert queue.runs == []  # the sweeper sends it half a minute later
    assert (await world.read(job)).attempts == 2
    assert await world.claim(job) is not None


async def test_the_lease_is_renewed_while_the_child_works(world: World, tmp_path: Path) -> None:
    job, started = await world.job(), tmp_path / "started"
    supervisor, _ = await _supervisor(world, job, WAIT.format(str(started)), lease_s=0.8)
    running = asyncio.create_task(supervisor.run())
    await _until(started)
    for _ in range(8):
        await asyncio.sleep(0.2)
        assert await world.claim(job) is None
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_a_cancel_ends_the_child_and_all_it_started(world: World, tmp_path: Path) -> None:
    job, started = await world.job(), tmp_path / "started"
    supervisor, queue = await _supervisor(
        world, job, PARENT_AND_CHILD.format(str(started)), lease_s=1.0
    )
    running = asyncio.create_task(supervisor.run())
    await _until(started)
    async with world.app.tenant(world.tenant) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
    await asyncio.wait_for(running, timeout=5)
    assert queue.runs == []
    assert _gone(started.read_text())


async def test_an_orderly_stop_releases_the_job_and_counts_no_attempt(
    world: World, tmp_path: Path
) -> None:
    job, started = await world.job(), tmp_path / "started"
    supervisor, queue = await _supervisor(world, job, WAIT.format(str(started)))
    running = asyncio.create_task(supervisor.run())
    await _until(started)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert queue.runs == [job.id]
    released = await world.read(job)
    assert (released.attempts, released.status) == (0, JobStatus.VALIDATING_FILES)
    assert await world.claim(job) is not None
