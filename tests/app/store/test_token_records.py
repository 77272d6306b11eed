"""Tokens are stored beside their rollout, in what Postgres can hold, and read on demand only."""

import pytest
from sqlalchemy import event

from app.kit.errors import NotFound
from app.rollouts.rollouts import RolloutFilter
from app.rollouts.trajectory import RecordedTurn, TokenRecord
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.rows import Rows, a_rollout

ALL = RolloutFilter()


def record(*texts: str, omitted: int = 0) -> TokenRecord:
    count = len(texts)
    return TokenRecord([RecordedTurn(list(texts), [-0.5] * count, [None] * count)], omitted)


async def test_tokens_come_back_as_they_were_stored(rows: Rows) -> None:
    job = await rows.job()
    with_tokens, without = a_rollout(job.id, 0), a_rollout(job.id, 1)
    kept = TokenRecord(
        [
            RecordedTurn(["é", "", "\n"], [-0.25, -1.5, -0.0001], [1.0, 0.5, None]),
            RecordedTurn([], [], []),
        ],
        3,
    )
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.rollouts.insert_many(job.id, [with_tokens, without], {with_tokens.id: kept})
    async with rows.app.tenant(rows.first) as unit:
        assert await unit.rollouts.tokens(job.id, with_tokens.id) == kept
        with pytest.raises(NotFound, match="has no stored tokens") as caught:
            await unit.rollouts.tokens(job.id, without.id)
        assert caught.value.code == "no_tokens"
    async with rows.app.tenant(rows.second) as unit:
        with pytest.raises(NotFound, match="No rollout"):
            await unit.rollouts.tokens(job.id, with_tokens.id)


async def test_text_that_postgres_cannot_hold_is_replaced_in_its_token(rows: Rows) -> None:
    job = await rows.job()
    row = a_rollout(job.id, 0)
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.rollouts.insert_many(
            job.id, [row], {row.id: record("a\x00", "\ud800", "b", omitted=1)}
        )
    async with rows.app.tenant(rows.first) as unit:
        found = await unit.rollouts.tokens(job.id, row.id)
    assert found == record("a\ufffd", "\ufffd", "b", omitted=1)


async def test_no_other_read_of_rollouts_loads_the_column(rows: Rows) -> None:
    job = await rows.job()
    row = a_rollout(job.id, 0)
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.rollouts.insert_many(job.id, [row], {row.id: record("a")})
    statements = list[str]()
    engine = rows.app._engine.sync_engine

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        async with rows.app.tenant(rows.first) as unit:
            await unit.rollouts.page(job.id, ALL, after=None, limit=9)
            await unit.rollouts.batch(job.id, ALL, behind=None, limit=9)
            await unit.rollouts.get(job.id, row.id)
            assert len([one for one in statements if "FROM rollouts" in one]) >= 3
            assert [one for one in statements if "rollouts.tokens" in one] == []
            await unit.rollouts.tokens(job.id, row.id)
        assert len([one for one in statements if "rollouts.tokens" in one]) == 1
    finally:
        event.remove(engine, "before_cursor_execute", note)
