"""Children that hang: stopped, inside and outside a transaction; blocked; without progress; deaf to
a pause. The supervisor kills each, and the row can be claimed again.

Leases are counted in calls that the supervisor makes to the database, two per heartbeat.
"""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.across_tenants import ClaimUnitOfWork
from app.database import Database
from app.jobs.claims import ClaimableJobs, job_claims
from app.jobs.jobs import Job, JobStatus, StopRequest
from app.settings import LeaseSettings, to_environment
from tests.support.patience import PATIENCE_S, wait_for
from tests.support.processes.child_processes import FORKS, ended
from tests.support.runs.world import World
from tests.support.twins import InMemoryJobQueue
from workers.leased_kinds import JOBS
from workers.processes.child import EXIT_ORPHANED, decode
from workers.processes.claim_supervisor import ClaimSupervisor, Patience
from workers.progress import ProgressMark

CHILD = """
import asyncio, pathlib, os, sys, time
from workers.compute import run_on_compute_thread
from workers.processes.child import run_supervised
from workers.progress import PROGRESS
from workers.leased_kinds import JOBS

def started():
    PROGRESS.mark("start of the test")
    part = pathlib.Path({started!r} + ".part")
    part.write_text(str(os.getpid()))
    part.rename({started!r})

async def inside(clients, lease):
    async with clients.database.run(lease.project_id, lease.id, lease.fence):
        started()
        await asyncio.Event().wait()

async def idle(clients, lease):
    await asyncio.sleep(1)
    started()
    await asyncio.Event().wait()

async def marking(clients, lease):
    started()
    while not pathlib.Path({started!r} + ".stop").exists():
        PROGRESS.mark("last achievement")
        await asyncio.sleep(0.1)
    await asyncio.Event().wait()

async def blocked(clients, lease):
    await asyncio.sleep(1)
    started()
    time.sleep(600)

async def computing(clients, lease):
    started()
    await run_on_compute_thread(time.sleep, 600)

async def on_fault(clients, lease, error):
    return False

sys.exit(run_supervised(JOBS, {work}, on_fault=on_fault))
"""
LEASE_S = 2.0
CALLS_PER_LEASE = 8
PATIENCE = Patience(
    look_s=LEASE_S / 4, stall_s=2 * LEASE_S, progress_s=600, pause_s=600, start_s=PATIENCE_S
)
RESPONSIVE = replace(PATIENCE, stall_s=600)
"""For children whose event loop is not the matter, however busy the machine is."""


@dataclass
class Calls:
    count: int = 0

    def claims(self, database: Database) -> ClaimUnitOfWork[ClaimableJobs]:
        self.count += 1
        return job_claims(database)


@dataclass
class Supervised:
    job: Job
    pid: int
    calls: Calls
    queue: InMemoryJobQueue
    running: asyncio.Task[None]

    async def ended(self) -> None:
        await asyncio.wait_for(self.running, timeout=PATIENCE_S)


@asynccontextmanager
async def supervised(
    world: World, started: Path, work: str, patience: Patience = PATIENCE
) -> AsyncIterator[Supervised]:
    """Yields once the child's work has begun."""
    job, calls, queue = await world.job(), Calls(), InMemoryJobQueue()
    lease = await world.claim(job, lease_s=LEASE_S)
    assert lease is not None
    code = CHILD.format(started=str(started), work=work)
    supervisor = ClaimSupervisor(
        replace(JOBS, child=("-c", code), claims=calls.claims),
        lease,
        database=world.worker,
        queue=queue,
        starter=FORKS,
        limits=LeaseSettings(lease_s=LEASE_S),
        patience=patience,
    )
    running = asyncio.create_task(supervisor.run())
    await asyncio.to_thread(wait_for, started.exists, what="the child's start")
    calls.count = 0
    try:
        yield Supervised(job, _pid(started), calls, queue, running)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def _pid(started: Path) -> int:
    return int(started.read_text())


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.fixture(autouse=True)
def _environment_of_the_child(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = world.settings.model_copy(update={"lease": LeaseSettings(lease_s=LEASE_S)})
    for name, value in to_environment(settings).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("work", ["idle", "inside"])
async def test_a_stopped_child_is_replaced_within_three_leases(
    world: World, tmp_path: Path, work: str
) -> None:
    async with supervised(world, tmp_path / "started", work) as child:
        os.kill(child.pid, signal.SIGSTOP)
        await child.ended()
        assert child.calls.count <= 3 * CALLS_PER_LEASE
    assert not _runs(child.pid)
    assert child.queue.runs == [child.job.id]
    again = await world.claim(child.job)
    assert again is not None
    assert (again.fence, again.attempts) == (2, 2)
    [message] = await world.messages(child.job)
    assert message.endswith(
        "Its process was ended. The job continues from its last committed step (attempt 1 of 5)."
    )


async def test_a_child_whose_event_loop_is_blocked_is_killed(world: World, tmp_path: Path) -> None:
    async with supervised(world, tmp_path / "started", "blocked") as child:
        await child.ended()
        assert child.calls.count <= 3 * CALLS_PER_LEASE
    [message] = await world.messages(child.job)
    assert message.startswith("The process of this run did not respond for 4 s.")


async def test_the_pulse_continues_during_a_computation(world: World, tmp_path: Path) -> None:
    lease = await world.claim(await world.job())
    assert lease is not None
    code = CHILD.format(started=str(tmp_path / "started"), work="computing")
    ours, theirs = socket.socketpair()
    pulse, line = await asyncio.open_connection(sock=ours)
    with theirs:
        process = FORKS.start(
            ("-c", code, lease.id, lease.project_id, str(lease.fence)), stdin=theirs.fileno()
        )
    async with asyncio.timeout(PATIENCE_S):
        while decode(await pulse.readline()) != ProgressMark(1, "start of the test"):
            pass
        assert {decode(await pulse.readline()) for _ in range(20)} == {
            ProgressMark(1, "start of the test")
        }
    line.close()
    assert await ended(process) == EXIT_ORPHANED


async def test_a_child_without_progress_is_killed_with_its_last_achievement(
    world: World, tmp_path: Path
) -> None:
    patience = replace(RESPONSIVE, progress_s=5.0)
    async with supervised(world, tmp_path / "started", "marking", patience) as child:
        while child.calls.count < 3 * CALLS_PER_LEASE:  # longer than a process without progress has
            assert not child.running.done()
            await asyncio.sleep(0.1)
        await asyncio.to_thread((tmp_path / "started.stop").touch)
        await child.ended()
    [message] = await world.messages(child.job)
    assert message.startswith(
        "The run made no progress for 5 s after 'last achievement'. Its process was ended."
    )
    assert (await world.read(child.job)).attempts == 1


async def test_a_pause_is_carried_out_for_a_child_that_does_not(
    world: World, tmp_path: Path
) -> None:
    patience = replace(RESPONSIVE, pause_s=1.0)
    async with supervised(world, tmp_path / "started", "idle", patience) as child:
        async with world.app.tenant(world.tenant) as unit:
            await unit.jobs.request_stop(child.job.id, StopRequest.PAUSE)
        await child.ended()
    paused = await world.read(child.job)
    assert (paused.status, paused.stop_request) == (JobStatus.PAUSED, None)
    assert child.queue.runs == []
    assert await world.claim(child.job) is None
    [message] = await world.messages(child.job)
    assert message.startswith("Fine-tuning job paused in the middle of a step: ")


async def test_a_hung_child_of_a_job_that_shall_pause_leaves_it_paused(
    world: World, tmp_path: Path
) -> None:
    async with supervised(world, tmp_path / "started", "blocked") as child:
        async with world.app.tenant(world.tenant) as unit:
            await unit.jobs.request_stop(child.job.id, StopRequest.PAUSE)
        await child.ended()
    assert (await world.read(child.job)).status is JobStatus.PAUSED
