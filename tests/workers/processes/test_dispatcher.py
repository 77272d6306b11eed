"""The dispatcher with real child processes that wait for their parent."""

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.runs.world import World
from workers.processes.children import Children
from workers.processes.dispatcher import dispatch
from workers.runs.leased_jobs import JOBS

WAITS = replace(JOBS, child=(sys.executable, "-c", "import sys; sys.stdin.read()"))


@pytest.fixture
def children() -> Iterator[Children]:
    started = Children(2)
    yield started
    for child in list(started.running):
        child.kill()
        child.wait()
    assert started.running == []


async def test_a_row_beyond_the_limit_stays_unclaimed_until_a_child_has_exited(
    world: World, children: Children
) -> None:
    first, second, third = [await world.job() for _ in range(3)]
    for job in (first, second):
        assert await dispatch(WAITS, world.settings, job.id, children=children)
    assert not await dispatch(WAITS, world.settings, third.id, children=children)
    assert (await world.read(third)).attempts == 0
    child = children.running[0]
    child.kill()
    child.wait()
    assert await dispatch(WAITS, world.settings, third.id, children=children)
    assert (await world.read(third)).attempts == 1
    assert len(children.running) == 2


async def test_a_row_that_another_worker_holds_starts_no_child(
    world: World, children: Children
) -> None:
    job = await world.job()
    await world.claim(job)
    assert not await dispatch(WAITS, world.settings, job.id, children=children)
    assert children.running == []


async def test_two_tasks_do_not_share_their_children(world: World, children: Children) -> None:
    job = await world.job()
    assert await dispatch(WAITS, world.settings, job.id, children=children)
    assert Children(2).running == []
