"""The queue spans all tenants; a tenant reads only its own positions and start times."""

import random
import time
from typing import Any

import psycopg
import pytest

from app.jobs.claims import job_claims
from app.jobs.jobs import StopRequest
from app.kit.callers import Tenant
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from tests.support.store.rows import Rows


async def _queue_positions(rows: Rows, *job_ids: str, second: bool = False) -> dict[str, Any]:
    async with rows.app.tenant(rows.second if second else rows.first) as unit:
        return await unit.jobs.queue_positions(list(job_ids))


async def _claim(rows: Rows, job_id: str, *, lease_s: float = 60) -> None:
    assert await claim_row(job_claims(rows.worker), job_id, lease_s=lease_s) is not None


async def test_queue_positions_count_the_jobs_of_all_tenants(rows: Rows) -> None:
    mine = await rows.job()
    foreign = await rows.job(rows.second)
    last = await rows.job()
    positions = await _queue_positions(rows, mine.id, foreign.id, last.id)
    assert {job: position.position for job, position in positions.items()} == {
        mine.id: 1,
        last.id: 3,
    }
    theirs = await _queue_positions(rows, mine.id, foreign.id, last.id, second=True)
    assert {job: position.position for job, position in theirs.items()} == {foreign.id: 2}
    assert all(position.estimated_start is None for position in positions.values())


async def test_a_resumed_job_stands_last(rows: Rows) -> None:
    first, second = await rows.job(), await rows.job()
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(first.id, StopRequest.PAUSE)
    assert list(await _queue_positions(rows, first.id)) == []
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.mark_queued(first.id)
    positions = await _queue_positions(rows, first.id, second.id)
    assert (positions[second.id].position, positions[first.id].position) == (1, 2)


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
    positions = await _queue_positions(rows, *(job.id for job in waiting))
    assert [positions[job.id].estimated_start for job in waiting] == [now + 300, now + 600, None]


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


async def test_positions_are_those_of_the_whole_queue(rows: Rows, database: Database) -> None:
    """Against the order of all jobs, for organizations and projects of any weight with jobs in
    every state.
    """
    chance = random.Random(5)
    url = database.superuser_url.replace("+psycopg", "")
    for number in range(2):
        with psycopg.connect(url) as connection:
            _weigh(connection, chance, rows.first.organization_id, rows.second.organization_id)
            projects = [
                project
                for tenant in (rows.first, rows.second)
                for project in _projects(connection, tenant, number, weights=(0.3, 1, 2, 7.5))
            ]
            for project in projects:
                _waiting_jobs(connection, project, chance.randrange(20))
            connection.execute(
                "UPDATE fine_tuning_jobs SET priority = floor(random() * 3),"
                " queued_at = now() - random() * interval '1 h',"
                " turn = CASE WHEN random() < 0.1 THEN random() * 9 END,"
                " lease_until = CASE WHEN random() < 0.2 THEN now() + interval '1 h' END,"
                " not_before = CASE WHEN random() < 0.2 THEN now() + interval '1 h' END"
            )
            queue = connection.execute(
                "SELECT id, project_id, place FROM queue_of_fine_tuning_jobs(NULL)"
            ).fetchall()
        assert len(queue) > 10
        for project in projects:
            expected = {job_id: position for job_id, owner, position in queue if owner == project}
            assert _positions(database, project, [job_id for job_id, *_ in queue]) == expected
            for job_id, position in expected.items():
                assert _positions(database, project, [job_id]) == {job_id: position}


async def test_a_position_reads_what_comes_before_it_and_not_the_whole_queue(
    rows: Rows, database: Database
) -> None:
    """Counts pages, not seconds: the rows themselves fill thousands."""
    job = await rows.job()
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        _waiting_jobs(connection, rows.second.project_id, 30_000)
        connection.execute("ANALYZE fine_tuning_jobs")
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as connection:
        connection.execute("SELECT set_config('app.project', %s, false)", (rows.first.project_id,))
        explained = [  # the first call also reads the catalog, for its plans
            connection.execute(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM queue_places(%s)",
                ([job.id],),
            ).fetchall()
            for _ in range(2)
        ]
    plan = explained[1][0][0][0]["Plan"]
    assert plan["Actual Rows"] == 1
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 200


def _weigh(connection: psycopg.Connection, chance: random.Random, *organizations: str) -> None:
    for organization in organizations:
        connection.execute(
            "UPDATE organizations SET share_weight = %s WHERE id = %s",
            (chance.choice((0.3, 1, 2.5)), organization),
        )
        connection.execute(
            "INSERT INTO organization_virtual_times"
            " (queue, organization_id, virtual_time, project_virtual_time)"
            " VALUES ('fine_tuning_jobs', %(id)s, %(time)s, %(project)s)"
            " ON CONFLICT (queue, organization_id) DO UPDATE"
            " SET virtual_time = %(time)s, project_virtual_time = %(project)s",
            {"id": organization, "time": chance.random() * 9, "project": chance.random() * 9},
        )


def _projects(
    connection: psycopg.Connection, tenant: Tenant, number: int, *, weights: tuple[float, ...]
) -> list[str]:
    ids = [f"p{number}-{tenant.organization_slug}-{weight}" for weight in weights]
    for project, weight in zip(ids, weights, strict=True):
        connection.execute(
            "INSERT INTO projects (id, organization_id, name, share_weight)"
            " VALUES (%s, %s, %s, %s)",
            (project, tenant.organization_id, project, weight),
        )
    return ids


def _waiting_jobs(connection: psycopg.Connection, project: str, count: int) -> None:
    connection.execute(
        "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
        " training_file, seed, method, integrations, result_files)"
        " SELECT 'ftjob-' || id || '-' || n, organization_id, id, 'key', 'm', 'queued', 'f', 1,"
        " '{}', '[]', '[]' FROM projects CROSS JOIN generate_series(1, %s) n WHERE id = %s",
        (count, project),
    )


def _positions(database: Database, project: str, wanted: list[str]) -> dict[str, int]:
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as connection:
        connection.execute("SELECT set_config('app.project', %s, false)", (project,))
        found = connection.execute("SELECT job_id, place FROM queue_places(%s)", (wanted,))
        return dict(found.fetchall())
