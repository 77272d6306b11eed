"""Trackers that hang, and those of other projects: counts of writes, no times."""

import asyncio
from collections.abc import Callable

import pytest
from typing_extensions import override

from app.jobs.claims import TrackedJob
from tests.support.patience import until
from tests.support.runs.world import World
from workers.trackers import child as tracker_sync
from workers.trackers.child import FairSlots, TrackerPool, TrackerSync
from workers.trackers.tracker import Tracker, TrackerUpdate, WriteReport
from workers.trackers.update_reader import TrackedIntegration


def tracker(project_id: str, number: int) -> TrackedIntegration:
    job = TrackedJob(f"ftjob-{project_id}{number}", project_id, [], has_ended=False)
    return TrackedIntegration(job, 0, "mlflow")


class HangingTrackers(TrackerSync):
    """Trackers of which those of some projects hang until they are released."""

    def __init__(self, world: World, *, hanging: str) -> None:
        super().__init__(world.worker, world.settings)
        self._hanging = hanging
        self.begun = list[str]()
        self.released = asyncio.Event()
        self.ended = 0

    @override
    async def _write(self, tracked: TrackedIntegration) -> None:
        self.begun.append(tracked.job.project_id)
        if tracked.job.project_id in self._hanging:
            await self.released.wait()
        self.ended += 1


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[TrackedIntegration]], None]:
    def set_tracked(tracked: list[TrackedIntegration]) -> None:
        async def tracked_integrations(_: object) -> list[TrackedIntegration]:
            return tracked

        monkeypatch.setattr(tracker_sync, "tracked_integrations", tracked_integrations)

    return set_tracked


async def test_trackers_that_hang_leave_slots_to_those_of_another_project(
    world: World, follow: Callable[[list[TrackedIntegration]], None]
) -> None:
    follow([*(tracker("a", number) for number in range(12)), tracker("b", 0)])
    trackers = HangingTrackers(world, hanging="a")
    assert await trackers.start() is True
    await until(lambda: trackers.ended == 1, what="the write of the other project")
    assert (trackers.begun.count("a"), trackers.begun.count("b")) == (4, 1)
    assert await trackers.start() is True
    await until(lambda: trackers.ended == 2, what="its next write")
    assert (trackers.begun.count("a"), trackers.begun.count("b")) == (4, 2)
    trackers.released.set()
    await trackers.settle()
    assert trackers.begun.count("a") == 12
    await trackers.close()


async def test_a_project_that_waits_for_a_full_machine_is_written_after_one_that_hangs(
    world: World, follow: Callable[[list[TrackedIntegration]], None]
) -> None:
    hanging = [tracker(name, number) for name in "ac" for number in range(12)]
    follow([*hanging, tracker("b", 0)])
    trackers = HangingTrackers(world, hanging="ac")
    await trackers.start()
    await until(lambda: len(trackers.begun) == 8, what="as many writes as there are slots")
    next(iter(trackers._tasks.values())).cancel()
    await until(lambda: "b" in trackers.begun, what="the write of the waiting project")
    assert trackers.begun[8] == "b"
    await trackers.close()
    assert trackers._tasks == {}


async def test_a_slot_that_is_no_longer_wanted_is_free_again() -> None:
    slots = FairSlots(1, for_one=1)

    async def hold(until_set: asyncio.Event) -> None:
        async with slots.of("a"):
            await until_set.wait()

    waits = asyncio.Event()
    holding, waiting = [asyncio.ensure_future(hold(waits)) for _ in range(2)]
    await asyncio.sleep(0)
    for task in (waiting, holding):
        task.cancel()
    await asyncio.gather(holding, waiting, return_exceptions=True)
    async with slots.of("b"):
        pass


class ClosedTracker(Tracker):
    """A tracker that is never called."""

    wants_all = False

    @override
    async def write(self, update: TrackerUpdate) -> WriteReport:
        raise AssertionError

    @override
    async def close(self) -> None:
        raise AssertionError

    @override
    async def abandon(self) -> None:
        raise AssertionError


def test_the_project_with_the_most_open_trackers_closes_the_one_used_longest_ago() -> None:
    opened = TrackerPool(3, for_one=3)
    everything = [*(tracker("a", number) for number in range(3)), tracker("b", 0)]
    for one in everything[-1:] + everything[:-1]:
        opened.add(one, ClosedTracker())
    assert opened.use(everything[0].key) is not None
    assert opened.surplus(busy=[]) == [everything[1].key]
    assert opened.surplus(busy=[everything[1].key]) == [everything[2].key]
    assert opened.surplus(busy=[one.key for one in everything]) == []


def test_a_project_closes_its_open_trackers_above_its_own_limit() -> None:
    opened = TrackerPool(16, for_one=2)
    everything = [*(tracker("a", number) for number in range(4)), tracker("b", 0), tracker("b", 1)]
    for one in everything:
        opened.add(one, ClosedTracker())
    assert opened.surplus(busy=[]) == [everything[0].key, everything[1].key]
    assert opened.surplus(busy=[everything[0].key]) == [everything[1].key, everything[2].key]
