"""The supervisor with real child processes that do something simple."""

import asyncio
import contextlib
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from app.database import Database
from app.jobs.jobs import Job, JobStatus, StopRequest
from app.kit.leases import Lease
from app.settings import LeaseSettings
from tests.support import stack
from tests.support.patience import PATIENCE_S, until, wait_for
from tests.support.processes.child_processes import FORKS
from tests.support.runs.world import World
from tests.support.store.leased_kinds import connect
from tests.support.twins import InMemoryJobQueue
from workers.leased_kinds import JOBS
from workers.processes.claim_supervisor import ClaimSupervisor, Patience
from workers.processes.forking.forks import ForkServer, Starter
from workers.processes.leased_work import LeasedWork


class Eager(LeaseSettings):
    """A heartbeat for a test: much shorter than the lease, so that no delay loses the lease."""

    @property
    @override
    def heartbeat_s(self) -> float:
        return 0.1


@dataclass(frozen=True, slots=True)
class ObservedWork(LeasedWork):
    """Jobs whose renewals report the first that was not made."""

    refused: asyncio.Event = field(kw_only=True)

    @override
    async def renew(self, database: Database, lease: Lease, *, limits: LeaseSettings) -> bool:
        renewed = False
        try:
            renewed = await LeasedWork.renew(self, database, lease, limits=limits)
        finally:
            if not renewed:
                self.refused.set()
        return renewed


WAIT = "import sys, pathlib; pathlib.Path({0!r}).touch(); sys.stdin.read()"
STOP = """
import pathlib, sys, time
pathlib.Path({0!r}, "started").touch()
while not pathlib.Path({0!r}, "go").exists():
    time.sleep(0.01)
pathlib.Path({0!r}, "exits").touch()
"""
PARENT_AND_CHILD = """
import subprocess, sys, pathlib
child = subprocess.Popen(["sleep", "60"])
pathlib.Path({0!r}).write_text(str(child.pid))
sys.stdin.read()
"""


async def _supervisor(
    world: World,
    job: Job,
    code: str,
    *,
    lease_s: float = 30.0,
    starter: Starter = FORKS,
    kind: LeasedWork = JOBS,
) -> tuple[ClaimSupervisor, InMemoryJobQueue]:
    lease = await world.claim(job, lease_s=lease_s)
    assert lease is not None
    queue, work = InMemoryJobQueue(), replace(kind, child=("-c", code))
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


def _end(database: stack.Database, job: Job) -> None:
    """Ends a job as its run does, in one commit."""
    with connect(database) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET status = 'succeeded' WHERE id = %s", (job.id,)
        )


def _jobs() -> ObservedWork:
    own = {one.name: getattr(JOBS, one.name) for one in fields(JOBS)}
    return ObservedWork(**own, refused=asyncio.Event())


async def test_a_run_that_has_ended_its_job_may_exit_after_the_next_renewal(
    world: World, database: stack.Database, tmp_path: Path
) -> None:
    job, work = await world.job(), _jobs()
    supervisor, queue = await _supervisor(world, job, STOP.format(str(tmp_path)), kind=work)
    with capture_logs() as logs:
        running = asyncio.create_task(supervisor.run())
        await _until(tmp_path / "started")
        await asyncio.to_thread(_end, database, job)
        await asyncio.wait_for(work.refused.wait(), timeout=PATIENCE_S)
        (tmp_path / "go").touch()
        await asyncio.wait_for(running, timeout=PATIENCE_S)
    assert (tmp_path / "exits").exists()
    warnings = {line["event"] for line in logs if line["log_level"] == "warning"}
    # An earlier test may have ended the server that all tests of this process share.
    assert warnings <= {"fork server ended, another starts"}
    assert queue.runs == []


async def test_a_run_that_does_not_exit_after_its_end_is_killed(
    world: World, database: stack.Database, tmp_path: Path
) -> None:
    job = await world.job()
    supervisor, queue = await _supervisor(
        world, job, PARENT_AND_CHILD.format(str(tmp_path / "started")), lease_s=3.0
    )
    with capture_logs() as logs:
        running = asyncio.create_task(supervisor.run())
        await _until(tmp_path / "started")
        await asyncio.to_thread(_end, database, job)
        await asyncio.wait_for(running, timeout=PATIENCE_S)
    assert [line["reason"] for line in logs if line["event"] == "child killed"] == [
        "The process of this run did not exit after the run's end."
    ]
    assert _gone((tmp_path / "started").read_text())
    assert (await world.read(job)).status is JobStatus.SUCCEEDED
    assert queue.runs == []


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
