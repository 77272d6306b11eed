"""The child as a process: how it ends, and that it ends with its parent."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

from app.domain.jobs.jobs import JobStatus
from app.settings import inherited_environment, to_environment
from tests.support.runs.world import World
from workers.processes.child import EXIT_LEASE_LOST, EXIT_ORPHANED


async def _child(world: World, job_id: str, fence: int) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "workers.job_child", job_id, world.tenant.project_id, str(fence)),
        env={**inherited_environment(), **to_environment(world.settings)},
        stdin=PIPE,
        stderr=PIPE,
    )


async def test_an_overtaken_child_says_so_and_ends(world: World) -> None:
    job = await world.job()
    await world.context(job)
    newer = await world.context(job)
    child = await _child(world, job.id, newer.fence - 1)
    assert child.stderr is not None
    said = await asyncio.wait_for(child.stderr.read(), timeout=20)
    assert await child.wait() == EXIT_LEASE_LOST
    (line,) = said.decode().splitlines()
    assert "lease lost" in line
    assert job.id in line


async def test_a_child_ends_with_its_parent_whatever_it_is_doing(world: World) -> None:
    job = await world.job()
    context = await world.context(job)
    async with context.unit():  # the child waits for this row
        child = await _child(world, job.id, context.fence)
        await asyncio.sleep(1.5)
        assert child.returncode is None
        assert child.stdin is not None
        child.stdin.close()
        assert await asyncio.wait_for(child.wait(), timeout=5) == EXIT_ORPHANED


async def test_a_job_that_cannot_run_fails_with_its_reason_and_the_child_ends_well(
    world: World,
) -> None:
    job = await world.job()
    context = await world.context(job)  # of a base model that no setting offers
    child = await _child(world, job.id, context.fence)
    assert await asyncio.wait_for(child.wait(), timeout=20) == 0
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "model_not_available"
