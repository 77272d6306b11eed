"""The queue spans all tenants; a tenant reads only its own positions and start times."""

import time
from typing import Any

import psycopg
import pytest

from app.domain.jobs.jobs import StopRequest
from app.store.jobs.claims import job_claims
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from tests.support.store.rows import Rows


async def _places(rows: Rows, *job_ids: str, second: bool = False) -> dict[str, Any]:
    async with rows.app.tenant(rows.second if second else rows.first) as unit:
        return await unit.jobs.queue_positions(list(job_ids))


async def _claim(rows: Rows, job_id: str, *, lease_s: float = 60) -> None:
    assert await claim_row(job_claims(rows.worker), job_id, lease_s=lease_s) is not None


async def test_queue_positions_count_the_jobs_of_all_tenants(rows: Rows) -> None:
    mine = await rows.job()
    foreign = await rows.job(rows.second)
    last = await rows.job()
    places = await _places(rows, mine.id, foreign.id, last.id)
    assert {job: place.position for job, place in places.items()} == {mine.id: 1, last.id: 3}
    theirs = await _places(rows, mine.id, foreign.id, last.id, second=True)
    assert {job: place.position for job, place in theirs.items()} == {foreign.id: 2}
    assert all(place.estimated_start is None for place in places.values())


async def test_a_held_job_waits_no_longer(rows: Rows) -> None:
    held, waiting = await rows.job(), await rows.job()
    await _claim(rows, held.id)
    places = await _places(rows, held.id, waiting.id)
    assert {job: place.position for job, place in places.items()} == {waiting.id: 1}


async def test_a_resumed_job_stands_last(rows: Rows) -> None:
    first, second = await rows.job(), await rows.job()
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(first.id, StopRequest.PAUSE)
    assert list(await _places(rows, first.id)) == []
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.mark_queued(first.id)
    places = await _places(rows, first.id, second.id)
    assert (places[second.id].position, places[first.id].position) == (1, 2)


async def test_the_start_is_the_end_of_as_many_running_jobs(rows: Rows, database: Database) -> None:
    runs = [await rows.job(rows.second) for _ in range(2)]
    waiting = [await rows.job() for _ in range(3)]
    now = int(time.time())
    for job, finish_s in zip(runs, (600, 300), strict=True):
        await _claim(rows, job.id)
        with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
            connection.execute(
                "UPDATE fine_tuning_jobs SET status = 'running', "
                "estimated_finish = to_timestamp(%s) WHERE id = %s",
                (now + finish_s, job.id),
            )
    places = await _places(rows, *(job.id for job in waiting))
    assert [places[job.id].estimated_start for job in waiting] == [now + 300, now + 600, None]


async def test_no_setting_opens_the_table_itself(rows: Rows, database: Database) -> None:
    job = await rows.job()
    for url in (database.app_url, database.worker_url):
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("SELECT set_config('app.queue', 'on', true)")
            assert connection.execute("SELECT count(*) FROM fine_tuning_jobs").fetchone() == (0,)
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as connection:
        found = connection.execute("SELECT * FROM queue_places(%s)", ([job.id],)).fetchall()
        assert found == []
        assert connection.execute("SELECT current_setting('app.queue')").fetchone() == ("",)
    with (
        psycopg.connect(database.worker_url.replace("+psycopg", "")) as worker,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        worker.execute("SELECT * FROM queue_places(%s)", ([job.id],))
