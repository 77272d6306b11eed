"""Slots that organizations and their projects share: nobody's many callers delay a stranger."""

import asyncio
import gc
from contextlib import AsyncExitStack
from threading import Event

from app.kit.slots import SharedSlots
from tests.support.patience import PATIENCE_S, until


async def test_projects_of_an_organization_leave_a_slot_to_their_siblings_and_to_others() -> None:
    slots, holding = SharedSlots(5, of_organization=4, of_project=3), list[str]()

    async def hold(organization: str, project: str) -> None:
        async with slots.taken(organization, project):
            holding.append(project)
            await asyncio.Event().wait()

    async with AsyncExitStack() as tasks:
        for organization, project in [("one", "a")] * 6 + [("one", "b")] * 6 + [("two", "c")]:
            task = asyncio.create_task(hold(organization, project))
            tasks.callback(task.cancel)
        await until(lambda: "c" in holding, what="the other organization")
        assert sorted(holding) == ["a", "a", "a", "b", "c"]
        assert len(slots) == 3


async def test_a_caller_that_goes_while_it_waits_holds_nothing() -> None:
    slots = SharedSlots(1)
    free = await slots.acquire("one", "a")
    waiting = [
        asyncio.create_task(slots.acquire(organization, project))
        for organization, project in (("one", "a"), ("one", "b"), ("two", "c"))
    ]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    free()
    for organization, project in (("one", "a"), ("one", "b"), ("two", "c")):
        async with asyncio.timeout(PATIENCE_S), slots.taken(organization, project):
            pass
    waiting.clear()
    del task, free
    await asyncio.sleep(0)  # the loop lets go of the cancelled callers
    gc.collect()
    assert len(slots) == 0


async def test_a_thread_keeps_its_slot_when_its_caller_goes() -> None:
    slots, running, go_on = SharedSlots(None), Event(), Event()

    def work() -> bool:
        running.set()
        return go_on.wait(PATIENCE_S)

    gone = asyncio.create_task(slots.run_on_thread("one", "a", work))
    await until(running.is_set, what="the thread")
    gone.cancel()
    sibling = asyncio.create_task(slots.run_on_thread("one", "b", lambda: "sibling"))
    assert await slots.run_on_thread("two", "c", lambda: "other") == "other"
    assert not sibling.done()
    go_on.set()
    assert await sibling == "sibling"
