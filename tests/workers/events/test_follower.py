"""Consumers of committed steps, one of them killed between handling and advancing."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.events.reader_store import EventReaderUnitOfWork, event_reader
from app.events.store import CommittedEvent
from app.jobs.jobs import Job
from app.rollouts.metrics import REWARD_MEAN
from tests.support import stack
from tests.support.events.killed_exporter import recorder
from tests.support.patience import PATIENCE_S
from tests.support.runs.world import World, plan
from workers.job_child import build_method
from workers.processes.event_follower import ExternalConsumer, Follower, RowConsumer
from workers.runs.method import build_reporter
from workers.runs.step_outcome import PublishedAdapter, StepOutcome, TrainedStep

LEASE_S = 1.0
ROOT = Path(__file__).parents[3]


async def commit_steps(world: World, job: Job, *steps: int) -> None:
    context = await world.context(job)
    reporter = build_reporter(context, build_method(context), tuned_name="ft:tiny")
    for step in steps:
        outcome = StepOutcome(
            TrainedStep(step, {REWARD_MEAN: step / 8}),
            PublishedAdapter(f"step-{step}/adapter", f"step-{step}/state"),
        )
        await reporter.commit_step(outcome, total_steps=plan().total_steps, pace_s=1.0)


def recorded(file: Path) -> list[tuple[str, str, int]]:
    """Returns event, job and step of each line."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(event, job, step) for event, job, step in map(json.loads, lines)]


async def test_a_killed_consumer_gets_every_step_at_least_once_and_in_order(
    world: World, database: stack.Database, tmp_path: Path
) -> None:
    file, jobs = tmp_path / "steps", [await world.job(), await world.job()]
    for job in jobs:
        await commit_steps(world, job, 1, 2)
    command = [sys.executable, "-m", "tests.support.events.killed_exporter"]
    arguments = (database.worker_url, str(file), "3", str(LEASE_S))
    killed = await asyncio.to_thread(subprocess.run, [*command, *arguments], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    before = recorded(file)
    assert len(before) == 3

    await commit_steps(world, jobs[0], 3)
    follower = Follower(world.worker, (recorder(file),), lease_s=PATIENCE_S)
    while len(recorded(file)) == len(before):  # until the lease of the dead process runs out
        await follower.catch_up()
        await asyncio.sleep(0.05)
    after = recorded(file)[len(before) :]
    assert before == after[:3], "the batch whose cursor did not advance is handled again"
    for job, steps in zip(jobs, ([1, 2, 3], [1, 2]), strict=True):
        assert [step for _, of_job, step in after if of_job == job.id] == steps
    assert len({event for event, _, _ in after}) == 5
    await follower.catch_up()
    assert recorded(file) == [*before, *after], "what was handled is not sent again"


async def test_a_faulty_consumer_gets_the_same_events_again_and_delays_no_other(
    world: World,
) -> None:
    job, faults, seen, others = await world.job(), 1, list[int](), list[int]()

    async def fail_once(events: Sequence[CommittedEvent]) -> None:
        nonlocal faults
        if faults:
            faults -= 1
            raise ZeroDivisionError
        seen.extend(event.data["data"]["step"] for event in events)

    async def work(events: Sequence[CommittedEvent]) -> None:
        others.extend(event.data["data"]["step"] for event in events)

    steps = frozenset({"job.metrics"})
    follower = Follower(
        world.worker,
        (ExternalConsumer("faulty", fail_once, steps), ExternalConsumer("sound", work, steps)),
        batch=2,
    )
    await commit_steps(world, job, 1, 2, 3)
    await follower.catch_up()
    assert (seen, others) == ([], [1, 2, 3])
    await follower.catch_up()
    assert (seen, others) == ([1, 2, 3], [1, 2, 3])


async def test_one_process_at_a_time_sends_for_a_consumer(world: World) -> None:
    seen, sending, may_end = list[int](), asyncio.Event(), asyncio.Event()

    async def slow(events: Sequence[CommittedEvent]) -> None:
        sending.set()
        await may_end.wait()
        seen.extend(event.data["data"]["step"] for event in events)

    consumer = ExternalConsumer("slow", slow, frozenset({"job.metrics"}))
    await commit_steps(world, await world.job(), 1, 2)
    first = asyncio.create_task(Follower(world.worker, (consumer,)).catch_up())
    await sending.wait()
    await Follower(world.worker, (consumer,)).catch_up()
    assert seen == []
    may_end.set()
    await first
    assert seen == [1, 2]


async def test_a_send_that_outlasts_its_lease_is_broken_off(world: World) -> None:
    broken_off = 0

    async def hang(_: Sequence[CommittedEvent]) -> None:
        nonlocal broken_off
        try:
            await asyncio.Event().wait()
        finally:
            broken_off += 1

    await commit_steps(world, await world.job(), 1)
    await Follower(world.worker, (ExternalConsumer("hangs", hang),), lease_s=0.2).catch_up()
    assert broken_off == 1


async def test_rows_of_a_consumer_are_committed_with_its_cursor_or_not_at_all(world: World) -> None:
    """The writes of a consumer that fails are rolled back with its cursor."""
    seen, fail = list[int](), True

    async def write(unit: EventReaderUnitOfWork, events: Sequence[CommittedEvent]) -> None:
        await unit.cursors.lock("a row of its own", "*")
        await unit.cursors.move("a row of its own", "*", position=events[-1].position)
        if fail:
            raise ZeroDivisionError
        seen.extend(event.data["data"]["step"] for event in events)

    async def own_row() -> int:
        async with event_reader(world.worker) as unit:
            return await unit.cursors.lock("a row of its own", "*")

    consumer = RowConsumer("writes", write, frozenset({"job.metrics"}))
    await commit_steps(world, await world.job(), 1, 2)
    await Follower(world.worker, (consumer,)).catch_up()
    assert (seen, await own_row()) == ([], 0)
    fail = False
    await Follower(world.worker, (consumer,)).catch_up()
    assert seen == [1, 2]
    assert await own_row() > 0


@pytest.mark.parametrize("batch", [1, 3])
async def test_a_backlog_is_handled_in_batches(world: World, batch: int) -> None:
    sizes = list[int]()

    async def work(events: Sequence[CommittedEvent]) -> None:
        sizes.append(len(events))

    await commit_steps(world, await world.job(), 1, 2, 3, 4)
    consumer = ExternalConsumer("batches", work, frozenset({"job.metrics"}))
    await Follower(world.worker, (consumer,), batch=batch).catch_up()
    assert sizes == {1: [1, 1, 1, 1], 3: [3, 1]}[batch]
