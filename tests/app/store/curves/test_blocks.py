"""Blocks of curves agree with the points, whatever wrote or removed these, and in which order."""

import asyncio
import random

import psycopg
from sqlalchemy import text

from app.jobs.claims import EndedJob, EndedJobStore
from app.jobs.findings import CurveKey
from app.rollouts.metrics import MetricPoint
from tests.support import stack
from tests.support.patience import until
from tests.support.store.blocks import Points, blocks_of, stored_blocks
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.rows import Rows

_CURVES: tuple[CurveKey, ...] = (("reward/mean", "train"), ("reward/mean", "valid"))


def _step(step: int, factor: int) -> list[MetricPoint]:
    """The points of one step; a re-run step, with another factor, has other values."""
    values = ((name, split, step * factor % 101 / 4) for name, split in _CURVES)
    return [
        MetricPoint(name, split, step, value)
        for name, split, value in values
        if split == "train" or step % 10 == 0
    ]


def _add(points: Points, written: list[MetricPoint]) -> None:
    points.update({(one.name, one.split, one.step): one.value for one in written})


def _waits(database: stack.Database) -> bool:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone()
    return found == (1,)


async def test_steps_that_are_written_again_or_out_of_order_leave_no_block_wrong(
    rows: Rows, database: stack.Database
) -> None:
    job, other = await rows.job(), await rows.job(rows.second)
    claimed = await claimed_rows(rows, job)
    points: Points = {}
    order = random.Random(7).sample(range(1, 80), 79)
    writes = [*((step, 37) for step in order), *((step, 11) for step in order[:20])]
    for step, factor in writes:
        written = _step(step, factor)
        async with run_unit(rows, claimed) as unit:
            await unit.metrics.upsert(job.id, written)
        _add(points, written)
    assert stored_blocks(database, job.id) == blocks_of(points)
    many = [one for step in range(70, 2500) for one in _step(step, 53)]
    async with run_unit(rows, claimed) as unit:
        await unit.metrics.upsert(job.id, [*_step(70, 3), *many])
    _add(points, many)
    assert stored_blocks(database, job.id) == blocks_of(points)
    async with run_unit(rows, await claimed_rows(rows, other)) as unit:
        await unit.metrics.upsert(other.id, [MetricPoint("reward/mean", "train", 1, 1e308)] * 2)
        await unit.metrics.upsert(other.id, [MetricPoint("reward/mean", "train", 2, 1e308)])
    assert stored_blocks(database, job.id) == blocks_of(points)


async def test_each_tenant_sees_its_own_blocks_alone(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as unit:
        await unit.metrics.upsert(job.id, _step(10, 37))
    seen = list[int]()
    for tenant in (rows.first, rows.second):
        async with rows.app.tenant(tenant) as mine:
            summaries = await mine.outlines.summaries([job.id])
            outlines = await mine.outlines.outlines(job.id, _CURVES, size=8)
            edges = await mine.outlines.edges(job.id, _CURVES, count=3)
            seen += [len(summaries), len(outlines), len(edges)]
    assert seen == [2, 2, 2, 0, 0, 0]


async def test_two_writers_of_one_block_wait_for_each_other(
    rows: Rows, database: stack.Database
) -> None:
    """A run locks its job's row; the trigger's own lock is for all other writers."""
    job = await rows.job()
    insert = (
        "INSERT INTO job_metrics (project_id, job_id, name, split, step, value)"
        " VALUES (%s, %s, 'a', 'train', %s, %s)"
    )
    url = database.superuser_url.replace("+psycopg", "")
    async with (
        await psycopg.AsyncConnection.connect(url) as first,
        await psycopg.AsyncConnection.connect(url) as second,
    ):
        await first.execute(insert, (job.project_id, job.id, 1, 1.0))
        late = asyncio.create_task(second.execute(insert, (job.project_id, job.id, 2, 2.0)))
        await until(lambda: _waits(database), what="the wait of the second writer")
        await first.commit()
        await late
        await second.commit()
    assert stored_blocks(database, job.id) == blocks_of(
        {("a", "train", 1): 1.0, ("a", "train", 2): 2.0}
    )


async def test_removed_points_take_their_blocks_along(rows: Rows, database: stack.Database) -> None:
    job = await rows.job()
    written = [one for step in range(1, 100) for one in _step(step, 37)]
    claimed = await claimed_rows(rows, job)
    async with run_unit(rows, claimed) as unit:
        await unit.metrics.upsert(job.id, written)
    points: Points = {}
    _add(points, written)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "DELETE FROM job_metrics WHERE job_id = %s AND step BETWEEN 20 AND 61", (job.id,)
        )
    left = {key: value for key, value in points.items() if not 20 <= key[2] <= 61}
    assert stored_blocks(database, job.id) == blocks_of(left)
    ended = EndedJob(job.project_id, job.id, frozenset())
    async with run_unit(rows, claimed) as unit:
        assert await EndedJobStore(unit.events._session).remove_children(ended, 30) == 30
    assert len(stored_blocks(database, job.id)) < len(blocks_of(left))
    async with run_unit(rows, claimed) as unit:
        await EndedJobStore(unit.events._session).remove_children(ended, 1000)
    assert stored_blocks(database, job.id) == []


async def test_a_step_reads_no_points_of_other_jobs(rows: Rows, database: stack.Database) -> None:
    """The writer is bound by row-level security, under which a join read every point there is."""
    job, other = await rows.job(), await rows.job(rows.second)
    claimed = await claimed_rows(rows, job)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("SET session_replication_role = replica")  # no triggers
        connection.execute(
            "INSERT INTO job_metrics (project_id, job_id, name, split, step, value)"
            " SELECT %s, %s, 'curve ' || n, 'train', step, 0.5"
            " FROM generate_series(1, 40) AS n, generate_series(1, 1000) AS step",
            (other.project_id, other.id),
        )
    with psycopg.connect(
        database.superuser_url.replace("+psycopg", ""), autocommit=True
    ) as connection:
        connection.execute("ANALYZE job_metrics, job_metric_blocks")
    written = [MetricPoint(f"curve {n}", "train", 7, n / 4) for n in range(100)]
    read = text("SELECT sum(seq_tup_read) FROM pg_stat_xact_user_tables WHERE relname ~ 'metric'")
    async with run_unit(rows, claimed) as unit:
        session = unit.metrics._session
        before = await session.scalar(read)  # a session counts earlier transactions for a while
        await unit.metrics.upsert(job.id, written)
        assert await session.scalar(read) == before
    assert len(stored_blocks(database, job.id)) == 5 * len(written)
