"""The order in which waiting programs get the slots of the runner, and who is refused."""

import asyncio
from collections import Counter

import pytest

from app.settings import SandboxSettings
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S, until
from workers.sandbox.runner import NoSlot, Slots, slots_of


class Play:
    """Programs that run until they are ended, in the order in which they were started."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.organizations = dict[str, str]()
        self.started = list[str]()
        self.ends = dict[str, asyncio.Event]()
        self.tasks = dict[str, asyncio.Task[None]]()

    async def ask(self, *names: str) -> None:
        """The first letter of a name is its project."""
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._run(name))
            await asyncio.sleep(0)

    async def _run(self, name: str) -> None:
        organization = self.organizations.get(name[0], "")
        async with self.slots.hold(name[0], organization=organization, within_s=PATIENCE_S):
            self.started.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def give_up(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.wait([self.tasks[name]])

    async def end_all(self) -> list[str]:
        """Ends one program after another, the oldest first, and returns the order of starts."""
        ended = 0
        while ended < len(self.tasks):
            await until(lambda: len(self.started) > ended, what="a start")  # noqa: B023 - called before the next turn of the loop
            await self.end(self.started[ended])
            ended += 1
        return self.started


async def test_the_project_that_holds_the_fewest_is_next() -> None:
    play = Play(Slots(3, per_project=3, max_waiting=9))
    await play.ask("a1", "a2", "a3", "a4", "a5", "b1", "c1", "b2")
    assert play.started == ["a1", "a2", "a3"]
    await play.end("a1")
    assert play.started[3:] == ["b1"]  # b and c hold none, and b asked first
    await play.end("a2")
    assert play.started[4:] == ["c1"]
    await play.end("a3")
    assert play.started[5:] == ["a4"]


async def test_equals_alternate_whatever_their_queues() -> None:
    play = Play(Slots(1, per_project=1, max_waiting=9))
    await play.ask("a1", "a2", "a3", "b1", "b2", "c1")
    assert await play.end_all() == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_a_project_leaves_slots_for_others() -> None:
    play = Play(Slots(4, per_project=3, max_waiting=9))
    await play.ask("a1", "a2", "a3", "a4", "a5")
    assert play.started == ["a1", "a2", "a3"]
    await play.ask("b1", "c1")
    assert play.started[3:] == ["b1"]
    await play.end("a1")
    assert play.started[4:] == ["c1"]
    assert Counter(name[0] for name in await play.end_all()) == {"a": 5, "b": 1, "c": 1}


async def test_an_organization_of_many_projects_gets_no_more_than_one_of_a_single_project() -> None:
    """Also while each of its projects is new: x's one is next as soon as anything ends."""
    play = Play(Slots(2, per_project=2, max_waiting=9))
    play.organizations = dict.fromkeys("abcdefgh", "many")
    await play.ask("a1", "b1", "c1", "d1", "e1", "x1", "x2", "f1", "g1", "x3")
    assert play.started == ["a1", "b1"]
    await play.end("a1")
    assert play.started[2:] == ["x1"]
    await play.end("x1")
    assert play.started[3:] == ["x2"]  # x holds none and the many hold one
    await play.end("b1")
    assert play.started[4:] == ["c1"]  # now x holds one and the many none
    assert Counter(name[0] for name in await play.end_all()) == {
        "x": 3,
        **dict.fromkeys("abcdefg", 1),
    }


async def test_an_organization_leaves_a_slot_for_others_with_all_its_projects() -> None:
    play = Play(slots_of(SandboxSettings(parallel=8)))
    play.organizations = dict.fromkeys("abcdefgh", "many")
    await play.ask(*(f"{project}{number}" for project in "abcdefgh" for number in range(2)))
    assert len(play.started) == 7
    await play.ask("x1")
    assert play.started[7:] == ["x1"]
    await play.end_all()


async def test_a_cancelled_caller_leaves_the_queue_and_its_slot() -> None:
    play = Play(Slots(1, per_project=1, max_waiting=2))
    await play.ask("a1", "a2", "a3")
    await play.give_up("a2")
    await play.ask("a4")  # a slot of the queue is free again
    await play.give_up("a1")
    await until(lambda: play.started == ["a1", "a3"], what="the next one")
    await play.give_up("a3")
    await until(lambda: play.started == ["a1", "a3", "a4"], what="the last one")


async def test_a_slot_granted_to_a_cancelled_caller_is_not_lost() -> None:
    slots = Slots(1, per_project=1, max_waiting=9)
    play = Play(slots)
    await play.ask("a1", "a2", "b1")
    play.ends["a1"].set()
    await play.tasks["a1"]  # its slot is granted to the next caller, which has not continued yet
    for name in ("a2", "b1"):
        await play.give_up(name)
    async with slots.hold("c", within_s=PATIENCE_S) as held:
        assert held.slot == 0


async def test_a_queue_has_a_bound_in_length_and_in_time() -> None:
    slots = Slots(1, per_project=1, max_waiting=1)
    play = Play(slots)
    await play.ask("a1", "a2")
    with pytest.raises(NoSlot, match="is full: 1 programs of this project wait already"):
        async with slots.hold("a", within_s=PATIENCE_S):
            pass
    with pytest.raises(NoSlot, match=r"had no free slot within 0\.01 s"):
        async with slots.hold("b", within_s=0.01):
            pass
    assert await play.end_all() == ["a1", "a2"]


@cases(
    ("parallel", "asked", "most"),
    [(1, None, 1), (2, None, 1), (4, None, 3), (16, None, 12), (8, 8, 8)],
)
async def test_a_project_alone_gets_three_quarters(
    parallel: int, asked: int | None, most: int
) -> None:
    play = Play(slots_of(SandboxSettings(parallel=parallel, per_project=asked)))
    await play.ask(*(f"a{number}" for number in range(20)))
    assert len(play.started) == most
