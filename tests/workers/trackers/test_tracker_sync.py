"""Tracked jobs, from committed steps to what TensorBoard's own library reads of them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from app.jobs.jobs import Job, JobError
from app.rollouts.metrics import REWARD_MEAN
from app.settings import to_environment
from tests.support.patience import until
from tests.support.processes.child_processes import CONTROL_FORKS, ended, killed
from tests.support.runs.world import World
from tests.support.stack import Database
from tests.support.trackers.tracked_steps import (
    CURSORS_LOST,
    MESSAGE,
    commit_steps,
    execute,
    follow_once,
    opened,
    outcome,
    warnings_of,
)
from workers.processes.dispatcher import start_if_due
from workers.processes.forking.forks import Children
from workers.trackers.child import TrackerSync
from workers.trackers.update_reader import tracked_integrations

TENSORBOARD: dict[str, Any] = {"type": "tensorboard", "tensorboard": {"traces_per_step": 2}}


def directory(world: World, job: Job) -> Path:
    return world.settings.trackers_dir / "tensorboard" / job.project_id / job.id


def read(path: Path) -> EventAccumulator:
    """Returns what TensorBoard reads of the event files of a directory, every value of it."""
    return EventAccumulator(str(path), size_guidance={"tensors": 0}).Reload()


def values(path: Path, tag: str) -> list[tuple[int, Any]]:
    """Returns step and value of each event of a tag."""
    return [
        (event.step, make_ndarray(event.tensor_proto).item()) for event in read(path).Tensors(tag)
    ]


def curve(world: World, job: Job, split: str, name: str = REWARD_MEAN) -> list[tuple[int, float]]:
    return values(directory(world, job) / split, name)


def texts(world: World, job: Job, tag: str) -> list[tuple[int, str]]:
    path = directory(world, job) / ("rollouts" if tag.startswith("rollouts") else ".")
    return [(step, text.decode()) for step, text in values(path, tag)]


def trackers(world: World) -> TrackerSync:
    return TrackerSync(world.worker, world.settings)


async def test_tensorboard_reads_curves_settings_rollouts_and_report(world: World) -> None:
    job = await world.job(integrations=[TENSORBOARD])
    untracked = await world.job()
    await commit_steps(world, untracked, 1)
    followed = trackers(world)
    assert await followed.follow() is True
    assert not directory(world, job).exists(), "nothing is written before there is something"
    await commit_steps(world, job, 1, 2)
    assert await followed.follow() is True
    assert curve(world, job, "train") == [(1, 0.125), (2, 0.25)]
    context, reporter = await opened(world, job)
    await reporter.commit_step(outcome(job, 3), total_steps=9, pace_s=1.0)
    async with context.unit() as unit:
        await unit.reports.upsert(job.id, {"mean_gain": 0.375})
        await unit.jobs.mark_failed(JobError("x", "a reason", None))
    assert await followed.follow() is True
    assert await followed.follow() is False, "an ended job is followed no more"
    await followed.close()

    assert curve(world, job, "train") == [(1, 0.125), (2, 0.25), (3, 0.375)]
    assert curve(world, job, "valid") == [(1, 0.0625), (2, 0.125), (3, 0.1875)]
    [(_, settings)] = texts(world, job, "job")
    assert all(part in settings for part in (job.id, job.model, '"name": "lookup"'))
    [(step, report)] = texts(world, job, "report")
    assert (step, '"mean_gain": 0.375' in report) == (3, True)
    for rank, reward in enumerate((1.0, 0.0), start=1):
        rollouts = texts(world, job, f"rollouts/{rank}")
        assert [step for step, _ in rollouts] == [1, 2, 3]
        assert all(f"reward {reward}\n" in text for _, text in rollouts)
        assert all(f'"content": "{MESSAGE}"' in text for _, text in rollouts)
    assert "rollouts/3" not in read(directory(world, job) / "rollouts").Tags()["tensors"]
    assert not directory(world, untracked).exists()


async def test_traces_are_written_only_where_they_are_wanted(world: World) -> None:
    none = {"type": "tensorboard", "tensorboard": {"traces_per_step": 0}}
    job = await world.job(integrations=[none])
    await commit_steps(world, job, 1)
    await follow_once(world)
    assert read(directory(world, job)).Tags()["tensors"] == ["job"]
    assert not (directory(world, job) / "rollouts").exists()


async def test_a_step_is_written_once_whatever_a_killed_process_left(
    world: World, database: Database
) -> None:
    job = await world.job(integrations=[TENSORBOARD])
    await commit_steps(world, job, 1, 2)
    await follow_once(world)
    [file] = (directory(world, job) / "train").iterdir()
    # A kill while step 2 was written: its record is torn, and the cursor has not moved.
    file.write_bytes(file.read_bytes()[:-7])
    execute(database, CURSORS_LOST)
    assert curve(world, job, "train") == [(1, 0.125)]
    await follow_once(world)
    # A kill between the write and the advance of the cursor: everything is read again.
    execute(database, CURSORS_LOST)
    await follow_once(world)
    assert curve(world, job, "train") == [(1, 0.125), (2, 0.25)]
    assert curve(world, job, "valid") == [(1, 0.0625), (2, 0.125)]
    assert len(texts(world, job, "job")) == 1
    assert len(texts(world, job, "rollouts/1")) == 2


async def test_processes_that_alternate_write_nothing_twice(world: World) -> None:
    job = await world.job(integrations=[TENSORBOARD])
    await commit_steps(world, job, 1)
    first = trackers(world)
    await first.follow()
    context = await commit_steps(world, job, 2)
    await follow_once(world)
    async with context.unit() as unit:
        await unit.jobs.mark_failed(JobError("x", "a reason", None))
    await first.follow()  # the end announces every point, those of the other process too
    await first.close()
    assert curve(world, job, "train") == [(1, 0.125), (2, 0.25)]
    assert len(texts(world, job, "job")) == 1


async def test_a_tracker_that_fails_warns_once_and_catches_up(world: World) -> None:
    broken, sound = [await world.job(integrations=[TENSORBOARD]) for _ in range(2)]
    in_the_way = directory(world, broken)
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("")
    await commit_steps(world, broken, 1)
    await commit_steps(world, sound, 1)
    followed = trackers(world)
    assert [await followed.follow() for _ in range(2)] == [True, True]
    assert await follow_once(world) is True  # another process, which has no memory of the fault
    assert curve(world, sound, "train") == [(1, 0.125)]
    assert (await world.read(broken)).error is None
    warnings = await warnings_of(world, broken)
    [warning] = [message for message in warnings if message.startswith("TensorBoard")]
    assert warning.startswith("TensorBoard cannot be written: Not a directory. The job continues")
    assert str(world.settings.trackers_dir) not in warning
    in_the_way.unlink()
    await commit_steps(world, broken, 2)
    await follow_once(world)
    assert curve(world, broken, "train") == [(1, 0.125), (2, 0.25)]
    await followed.close()


@pytest.fixture
def children() -> Iterator[Children]:
    started = Children(1, CONTROL_FORKS)
    yield started
    for child in list(started.running):
        killed(child.process)


async def dispatch_trackers(world: World, *, children: Children) -> bool:
    return await start_if_due(
        "workers.trackers.child", lambda: tracked_integrations(world.worker), children=children
    )


async def test_one_process_writes_while_a_job_is_followed(
    world: World, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    for name, value in to_environment(world.settings).items():
        monkeypatch.setenv(name, value)
    assert await dispatch_trackers(world, children=children) is False
    job = await world.job(integrations=[TENSORBOARD])
    assert await dispatch_trackers(world, children=children) is True
    assert await dispatch_trackers(world, children=children) is True
    [child] = children.running
    context = await commit_steps(world, job, 1)
    await until(lambda: any((directory(world, job) / "train").glob("*")))
    async with context.unit() as unit:
        await unit.jobs.mark_failed(JobError("x", "a reason", None))
    assert await ended(child.process) == 0
    assert await asyncio.to_thread(curve, world, job, "train") == [(1, 0.125)]
    assert await dispatch_trackers(world, children=children) is False
