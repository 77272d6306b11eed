"""The journal on a real Postgres: durable before used, few transactions, one step at a time."""

import asyncio

import pytest
from sqlalchemy import event

from app.kit.errors import LeaseLost
from tests.support.patience import PATIENCE_S
from tests.support.runs.journals import journal_of
from tests.support.runs.world import World


async def test_entries_of_many_rollouts_share_a_transaction(world: World) -> None:
    journal = journal_of(await world.context(await world.job()), 3)
    commits: list[object] = []
    event.listen(world.worker.sessions.kw["bind"].sync_engine, "commit", commits.append)
    await asyncio.gather(*(journal.put(f"k{n}", "sha", {"n": n}) for n in range(200)))
    assert len(commits) == 1


async def test_the_next_claim_replays_the_journal_of_its_step(world: World) -> None:
    job = await world.job()
    first = await world.context(job)
    payload = {"token_ids": [1, 2], "logprobs": [-0.1, -1e-17], "text": "a\x00\ud800b"}
    await journal_of(first, 3).put("turn", "sha", payload)
    await journal_of(first, 4).put("turn of 4", "sha", {})

    journal = journal_of(await world.context(job), 3)
    assert await journal.get("turn", "sha") is None
    await journal.load()
    assert await journal.get("turn", "sha") == payload
    assert await journal.get("turn", "another request") is None
    assert await journal.get("turn of 4", "sha") is None
    assert journal.replayed == 1


async def test_an_overtaken_claim_journals_nothing_and_fails_every_writer(world: World) -> None:
    job = await world.job()
    old = journal_of(await world.context(job), 1)
    new = journal_of(await world.context(job), 1)
    results = await asyncio.gather(
        *(old.put(f"k{n}", "sha", {}) for n in range(5)), return_exceptions=True
    )
    assert [type(result) for result in results] == [LeaseLost] * 5
    await new.load()
    assert await new.get("k0", "sha") is None


async def test_a_cancelled_writer_delays_no_other(world: World) -> None:
    journal = journal_of(await world.context(await world.job()), 1)
    writers = [asyncio.create_task(journal.put(f"k{n}", "sha", {})) for n in range(3)]
    await asyncio.sleep(0)
    writers[1].cancel()
    done = await asyncio.wait_for(
        asyncio.gather(*writers, return_exceptions=True), timeout=PATIENCE_S
    )
    assert [type(result) for result in done] == [type(None), asyncio.CancelledError, type(None)]
    with pytest.raises(asyncio.CancelledError):
        await writers[1]
