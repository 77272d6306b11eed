"""Shares of organizations and their projects in the threads that compute scores."""

import asyncio
import gc
from threading import Event

from app.graders.scorer import ComputingShares, run_on_scoring_thread
from tests.support.patience import PATIENCE_S, until


async def test_each_organization_computes_one_score_at_a_time_and_all_together_a_few() -> None:
    shares, go_on, running = ComputingShares(at_once=2), Event(), list[str]()

    def compute(name: str) -> str:
        running.append(name)
        assert go_on.wait(PATIENCE_S)
        return name

    async def score(name: str) -> str:
        with shares.of(name[0], name[:2]):
            return await run_on_scoring_thread(lambda: compute(name))

    asked = [asyncio.create_task(score(name)) for name in ("a1", "a2", "a3", "a4", "b1", "c1")]
    await until(lambda: len(running) == 2, what="two threads")
    await asyncio.sleep(0)
    assert running == ["a1", "b1"]
    for gone in (asked[0], asked[3]):  # the thread of the first still computes
        gone.cancel()
    await asyncio.wait([asked[0], asked[3]])
    await asyncio.sleep(0)
    assert running == ["a1", "b1"]
    go_on.set()
    left = [asked[1], asked[2], *asked[4:]]
    assert await asyncio.gather(*left) == ["a2", "a3", "b1", "c1"]
    assert sorted(running) == ["a1", "a2", "a3", "b1", "c1"]
    assert running.index("c1") < running.index("a3")  # others' scores come between
    del gone
    asked.clear()
    left.clear()
    gc.collect()
    assert len(shares.slots) == 0


async def test_projects_of_an_organization_alternate() -> None:
    shares, order = ComputingShares(at_once=2), list[str]()

    async def score(name: str) -> None:
        with shares.of("one", name[0]):
            await run_on_scoring_thread(lambda: order.append(name))

    await asyncio.gather(*(score(name) for name in ("a1", "a2", "a3", "b1", "b2")))
    assert order == ["a1", "b1", "a2", "b2", "a3"]


async def test_without_a_share_nothing_waits() -> None:
    both = Event(), Event()

    def meet(own: int) -> bool:
        both[own].set()
        return both[1 - own].wait(PATIENCE_S)

    met = await asyncio.gather(
        run_on_scoring_thread(lambda: meet(0)), run_on_scoring_thread(lambda: meet(1))
    )
    assert all(met)
