"""Reads of exports: batches bounded in bytes, and places that outlive their rows."""

import json

import psycopg
import pytest

from app.kit.errors import AuthenticationFailed
from app.kit.sql import MAX_PAGE_BYTES
from app.rollouts.rollouts import RolloutCursor, RolloutFilter
from app.rollouts.service import RolloutService
from tests.support.stack import Database
from tests.support.store.rows import Rows

FILL = """
    INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index, sample_index, attempt,
        trace_id, policy_version, prompt_tokens, completion_tokens, reasoning_tokens, tool_calls,
        components, trace, started_at, finished_at)
    SELECT 'ro_' || i, project_id, id, 'train', i / 2, i %% 2, 0, 0, 't', 0, 1, 1, 0, 0, '{}',
        jsonb_build_object('text', repeat('x', %(length)s)), 0, 1
    FROM fine_tuning_jobs, generate_series(0, %(count)s - 1) AS i WHERE id = %(job)s
"""


def _fill(database: Database, job: str, *, count: int, length: int = 10) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        values = {"job": job, "count": count, "length": length}
        connection.execute(FILL.encode(), values)


async def test_large_traces_come_in_small_batches(rows: Rows, database: Database) -> None:
    job = await rows.job()
    _fill(database, job.id, count=12, length=2_000_000)
    found: list[str] = []
    behind = None
    async with rows.app.tenant(rows.first) as unit:
        while batch := await unit.rollouts.batch(job.id, RolloutFilter(), behind=behind, limit=100):
            assert sum(len(json.dumps(row.trace)) for row in batch) <= MAX_PAGE_BYTES
            found += [row.id for row in batch]
            behind = RolloutCursor.of(batch[-1])
    assert found == [f"ro_{i}" for i in range(12)]


async def test_rows_that_are_deleted_meanwhile_shift_nothing(
    rows: Rows, database: Database
) -> None:
    job = await rows.job()
    _fill(database, job.id, count=240)

    async def delete_the_last_row_read() -> None:
        with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
            connection.execute("DELETE FROM rollouts WHERE id = 'ro_99'")

    batches = RolloutService(rows.app, rows.first).export(
        job.id, RolloutFilter(), check=delete_the_last_row_read
    )
    found = [row.id async for batch in batches for row in batch]
    assert found == [f"ro_{i}" for i in range(240)]


async def test_an_ended_key_ends_the_export(rows: Rows, database: Database) -> None:
    job = await rows.job()
    _fill(database, job.id, count=240)

    async def refuse() -> None:
        raise AuthenticationFailed("The key was revoked.")

    batches = RolloutService(rows.app, rows.first).export(job.id, RolloutFilter(), check=refuse)
    assert len(await anext(batches)) == 100
    with pytest.raises(AuthenticationFailed):
        await anext(batches)
