"""The dispatcher with real child processes that wait for their parent."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.support.patience import PATIENCE_S, until
from tests.support.processes.child_processes import FORKS, ended, killed
from tests.support.runs.world import World
from tests.support.store.tenants import insert_project, insert_tenant
from workers.leased_kinds import JOBS
from workers.processes.dispatcher import child_to_end, dispatch, newest_of_several
from workers.processes.forking.forks import ChildProcess, Children, TaskChild

WAITS = replace(JOBS, child=("-c", "import sys; sys.stdin.read()"))


@pytest.fixture
def children() -> Iterator[Children]:
    started = Children(2, FORKS)
    yield started
    for child in list(started.running):
        killed(child.process)
    assert started.running == []


async def test_a_row_beyond_the_limit_stays_unclaimed_until_a_child_has_exited(
    world: World, children: Children
) -> None:
    _, _, third = [await world.job() for _ in range(3)]
    for _ in range(2):
        assert await dispatch(WAITS, world.settings, children=children)
    assert not await dispatch(WAITS, world.settings, children=children)
    assert (await world.read(third)).attempts == 0
    child = children.running[0]
    killed(child.process)
    assert await dispatch(WAITS, world.settings, children=children)
    assert (await world.read(third)).attempts == 1
    assert len(children.running) == 2


async def test_a_child_that_has_exited_stays_no_zombie(world: World, children: Children) -> None:
    await world.job()
    assert await dispatch(WAITS, world.settings, children=children)
    child = children.running[0].process
    pid = child.started.result(timeout=PATIENCE_S)
    assert _is_listed(pid)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not _is_listed(pid), what="the end of the zombie")
    assert await ended(child) == -signal.SIGKILL
    assert children.running == []


def _is_listed(pid: int) -> bool:
    """Returns whether the kernel knows the process; it knows a zombie, too."""
    return Path(f"/proc/{pid}").exists()


async def test_a_row_that_another_worker_holds_starts_no_child(
    world: World, children: Children
) -> None:
    job = await world.job()
    await world.claim(job)
    for _ in range(2):  # the broker may deliver a notification again
        assert not await dispatch(WAITS, world.settings, children=children)
    assert children.running == []
    assert (await world.read(job)).attempts == 1


async def test_an_organization_without_a_slot_gets_one_of_another_with_two_projects(
    world: World, children: Children
) -> None:
    sibling = await insert_project(world.app, world.tenant, "sibling")
    for tenant in (world.tenant, sibling, sibling):
        await world.job(tenant)
    work = replace(WAITS, is_resumable=True)
    for _ in range(3):
        await dispatch(work, world.settings, children=children)
    oldest, newest = children.running
    assert not newest.is_ending
    second = await insert_tenant(world.app, "two")
    theirs = await world.job(second)
    assert not await dispatch(work, world.settings, children=children)
    assert (oldest.is_ending, newest.is_ending) == (False, True)
    await ended(newest.process)
    assert await dispatch(work, world.settings, children=children)
    async with world.app.tenant(second) as unit:
        assert (await unit.jobs.get(theirs.id)).attempts == 1


async def test_an_only_child_continues_while_who_waits_holds_more(
    world: World, children: Children
) -> None:
    """A claim with its slot free would be of its own row again."""
    work = replace(WAITS, is_resumable=True)
    second = await insert_tenant(world.app, "two")
    await world.job(second)
    assert await dispatch(work, world.settings, children=children)
    await world.job()
    assert await dispatch(work, world.settings, children=children)
    theirs, own = children.running
    theirs.started_at -= 10 * world.settings.egress.call_timeout_s
    sibling = await insert_project(world.app, world.tenant, "sibling")
    await world.job(sibling)
    assert not await dispatch(work, world.settings, children=children)
    assert (theirs.is_ending, own.is_ending) == (False, False)
    await world.job(await insert_tenant(world.app, "three"))
    assert not await dispatch(work, world.settings, children=children)
    assert (theirs.is_ending, own.is_ending) == (True, False)


async def test_two_tasks_do_not_share_their_children(world: World, children: Children) -> None:
    await world.job()
    assert await dispatch(WAITS, world.settings, children=children)
    assert Children(2, FORKS).running == []


def _running(*projects: str) -> list[TaskChild]:
    """Children that never started a process, oldest first, each a minute older than the next."""
    now = time.monotonic()
    return [
        TaskChild(ChildProcess(), line, project, started_at=now - 60 * (len(projects) - number))
        for number, project in enumerate(projects)
        for line in [cast("socket.socket", None)]
    ]


def test_the_newest_child_of_a_project_with_several_slots_ends_first() -> None:
    running = _running("a", "b", "a", "c")
    assert child_to_end(running, longest_s=1) is running[2]


def test_the_only_child_of_a_project_ends_only_after_the_longest_call() -> None:
    running = _running("a", "b")
    assert child_to_end(running, longest_s=1000) is None
    assert child_to_end(running, longest_s=90) is running[0]


def test_slots_of_an_organization_count_over_its_projects() -> None:
    owners = {"a": "one", "b": "one", "c": "two"}
    running = _running("a", "b", "c")
    assert child_to_end(running, longest_s=1000) is None
    assert newest_of_several(running, owners) is running[1]
    assert newest_of_several(_running("a", "c"), owners) is None
