"""The supervisor with real child processes that do something simple."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from typing_extensions import override

from app.domain.jobs.jobs import Job, JobStatus, StopRequest
from app.gateways.job_queue import InMemoryJobQueue
from app.settings.runs import LeaseSettings
from tests.support import stack
from tests.support.child_processes import FORKS
from tests.support.patience import PATIENCE_S, until, wait_for
from tests.support.runs.world import World
from tests.support.store.leased_kinds import connect
from workers.processes.claim_supervisor import ClaimSupervisor
from workers.processes.forking.forks import ForkServer, Starter
from workers.processes.vitals import Patience
from workers.runs.leased_jobs import JOBS


class Eager(LeaseSettings):
    """A heartbeat for a test: much shorter than the lease, so that no delay loses the lease."""

    @property
    @override
    def heartbeat_s(self) -> float:
        return 0.1


WAIT = "import sys, pathlib; pathlib.Path({0!r}).touch(); sys.stdin.read()"
PARENT_AND_CHILD = """
import subprocess, sys, pathlib
child = subprocess.Popen(["sleep", "60"])
pathlib.Path({0!r}).write_text(str(child.pid))
sys.stdin.read()
"""


async def _supervisor(
    world: World, job: Job, code: str, *, lease_s: float = 30.0, starter: Starter = FORKS
) -> tuple[ClaimSupervisor, InMemoryJobQueue]:
    lease = await world.claim(job, lease_s=lease_s)
    assert lease is not None
    queue, work = InMemoryJobQueue(), replace(JOBS, child=("-c", code))
    limits = Eager(lease_s=lease_s, max_attempts=2)
    patience = Patience.of(world.settings)
    supervisor = ClaimSupervisor(
        work,
        lease,
        database=world.worker,
        queue=queue,
        starter=starter,
        limits=limits,
        patience=patience,
    )
    return supervisor, queue


async def _until(path: Path) -> None:
    await asyncio.to_thread(wait_for, path.exists, what=path.name)


def _lease_end(database: stack.Database, job: Job) -> datetime:
    query = "SELECT lease_until FROM fine_tuning_jobs WHERE id = %s"
    with connect(database) as connection:
        row = connection.execute(query, (job.id,)).fetchone()
    assert row is not None
    end: datetime = row[0]
    return end


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


async def test_a_worker_that_cannot_start_children_ends_the_job_with_the_cause(
    world: World,
) -> None:
    job, broken = await world.job(), ForkServer(["no_such_module"])
    cause = (
        "The worker could not start the process of the run: "
        "ModuleNotFoundError: No module named 'no_such_module'."
    )
    for _ in range(2):
        supervisor, _ = await _supervisor(world, job, "", starter=broken)
        await supervisor.run()
    broken.close()
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "worker_lost"
    assert failed.error.message == f"The job's worker failed 2 times. {cause}"
    assert await world.messages(job) == [
        f"{cause} The job continues from its last committed step (attempt 1 of 2).",
        f"{cause} It was the last attempt (attempt 2 of 2).",
        failed.error.message,
    ]


async def test_the_lease_is_renewed_while_the_child_works(
    world: World, database: stack.Database, tmp_path: Path
) -> None:
    job, started = await world.job(), tmp_path / "started"
    supervisor, _ = await _supervisor(world, job, WAIT.format(str(started)))
    running = asyncio.create_task(supervisor.run())
    await _until(started)
    ends: list[datetime] = []

    async def renewed() -> bool:
        end = await asyncio.to_thread(_lease_end, database, job)
        if end not in ends:
            ends.append(end)
        return len(ends) == 4

    await until(renewed, what="the third renewal")
    assert ends == sorted(ends)
    assert await world.claim(job) is None
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_a_cancel_ends_the_child_and_all_it_started(world: World, tmp_path: Path) -> None:
    job, started = await world.job(), tmp_path / "started"
    supervisor, queue = await _supervisor(world, job, PARENT_AND_CHILD.format(str(started)))
    running = asyncio.create_task(supervisor.run())
    await _until(started)
    async with world.app.tenant(world.tenant) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
    await asyncio.wait_for(running, timeout=PATIENCE_S)
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
