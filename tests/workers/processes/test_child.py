"""Child processes of leased work: their exit codes, and the state of their leases afterwards."""

import asyncio
import signal
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

import pytest

from app.jobs.jobs import Job
from app.kit.leases import Lease
from app.settings import LeaseSettings
from tests.support import stack
from tests.support.patience import until
from tests.support.processes import child_processes
from tests.support.processes.child_processes import StartedChild
from tests.support.runs.world import World
from tests.support.store.leased_kinds import connect
from workers.processes.child import EXIT_FAULT, EXIT_LEASE_LOST, EXIT_ORPHANED

DISPATCHED = """
import asyncio, pathlib, sys
from workers.processes.child import run_dispatched
from workers.leased_kinds import JOBS

async def work(clients, lease):
    pathlib.Path({started!r}).touch()
    {then}

sys.exit(run_dispatched(JOBS, work))
"""
SUPERVISED = """
import sys
from workers.processes.child import run_supervised
from workers.leased_kinds import JOBS

async def work(clients, lease):
    raise ZeroDivisionError(lease.id)

async def on_fault(clients, lease, error):
    return str(error) == lease.id and {ended}

sys.exit(run_supervised(JOBS, work, on_fault=on_fault))
"""
FOR_EVER = "await asyncio.Event().wait()"


def child(
    world: World, lease: Lease, code: str, *, lease_s: float = 30.0
) -> AbstractContextManager[StartedChild]:
    settings = world.settings.model_copy(update={"lease": LeaseSettings(lease_s=lease_s)})
    arguments = ("-c", code, lease.id, lease.project_id, str(lease.fence))
    return child_processes.child(*arguments, settings=settings)


async def claimed(world: World) -> tuple[Job, Lease]:
    job = await world.job()
    lease = await world.claim(job)
    assert lease is not None
    return job, lease


async def test_a_child_that_is_done_keeps_its_lease_for_the_end_it_has_written(
    world: World, tmp_path: Path
) -> None:
    job, lease = await claimed(world)
    code = DISPATCHED.format(started=str(tmp_path / "started"), then="return")
    with child(world, lease, code) as started_child:
        assert await started_child.exit_code() == 0
    assert (tmp_path / "started").exists()
    assert await world.claim(job) is None


@pytest.mark.parametrize("ending", ["exception", "SIGTERM"])
async def test_a_dispatched_child_that_ends_early_releases_its_lease(
    world: World, tmp_path: Path, ending: str
) -> None:
    job, lease = await claimed(world)
    started = tmp_path / "started"
    then = "raise ZeroDivisionError" if ending == "exception" else FOR_EVER
    code = DISPATCHED.format(started=str(started), then=then)
    with child(world, lease, code) as started_child:
        await until(started.exists)
        if ending == "SIGTERM":
            started_child.process.signal(signal.SIGTERM)
        assert await started_child.exit_code() == EXIT_FAULT
    again = await world.claim(job)
    assert again is not None
    # A SIGTERM is a request, not a failed attempt.
    assert (again.fence, again.attempts) == (2, 1 if ending == "SIGTERM" else 2)


def lease_end(database: stack.Database, lease: Lease) -> datetime:
    query = "SELECT lease_until FROM fine_tuning_jobs WHERE id = %s"
    with connect(database) as connection:
        row = connection.execute(query, (lease.id,)).fetchone()
    assert row is not None
    end: datetime = row[0]
    return end


async def test_a_dispatched_child_renews_its_lease_until_it_is_lost(
    world: World, database: stack.Database, tmp_path: Path
) -> None:
    _, lease = await claimed(world)
    ends: list[datetime] = []

    async def renewed() -> bool:
        end = await asyncio.to_thread(lease_end, database, lease)
        if end not in ends:
            ends.append(end)
        return len(ends) >= 4

    code = DISPATCHED.format(started=str(tmp_path / "started"), then=FOR_EVER)
    with child(world, lease, code, lease_s=1.0) as started_child:
        await until(renewed)
        assert started_child.process.returncode is None
        with connect(database) as connection:
            connection.execute("UPDATE fine_tuning_jobs SET fence = fence + 1")
        assert await started_child.exit_code() == EXIT_LEASE_LOST
    first, *renewals = ends
    assert renewals == sorted(renewals)
    assert renewals[0] < first, "the claim's lease of 30 s became the child's of 1 s"


async def test_a_dispatched_child_ends_with_its_parent(world: World, tmp_path: Path) -> None:
    _, lease = await claimed(world)
    started = tmp_path / "started"
    code = DISPATCHED.format(started=str(started), then=FOR_EVER)
    with child(world, lease, code) as started_child:
        await until(started.exists)
        started_child.line.close()
        assert await started_child.exit_code() == EXIT_ORPHANED


@pytest.mark.parametrize(("ended", "code"), [(True, 0), (False, EXIT_FAULT)])
async def test_a_supervised_child_leaves_the_lease_to_its_supervisor(
    world: World, ended: bool, code: int
) -> None:
    job, lease = await claimed(world)
    with child(world, lease, SUPERVISED.format(ended=ended)) as started_child:
        assert await started_child.exit_code() == code
    assert await world.claim(job) is None
