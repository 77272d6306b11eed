"""Jobs and eval runs are claimed in an order that is fair over organizations, then over their
projects, on a real Postgres.
"""

from typing import Any

import psycopg
import pytest

from app.across_tenants import ClaimUnitOfWork
from app.evals.claims import eval_claims
from app.jobs.claims import job_claims
from app.jobs.jobs import QueuePosition
from app.kit.leases import Lease, QueuedRows
from tests.support import stack
from tests.support.store.evals import a_run
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows
from tests.support.store.tenants import insert_project

PLENTY = 1000


async def _claim(
    rows: Rows, *, lease_s: float = 30, most_held: int = PLENTY, evals: bool = False
) -> Lease | None:
    claims: ClaimUnitOfWork[Any] = (eval_claims if evals else job_claims)(rows.worker)
    async with claims as unit:
        leases: QueuedRows = unit.leases
        return await leases.claim_next("w", lease_s, max_attempts=3, most_held=most_held)


async def _claimed(rows: Rows, **options: Any) -> str:
    lease = await _claim(rows, **options)
    assert lease is not None
    return lease.project_id


async def _run_one(rows: Rows, database: stack.Database) -> str:
    """Claims a job and ends it, as the only worker does. Returns its project."""
    lease = await _claim(rows)
    assert lease is not None
    _execute(database, "UPDATE fine_tuning_jobs SET status = 'succeeded' WHERE id = %s", lease.id)
    return lease.project_id


def _execute(database: stack.Database, statement: str, *values: Any) -> None:
    with connect(database) as connection:
        connection.execute(statement.encode(), values)


async def test_the_first_job_of_a_project_is_claimed_before_sixty_of_another(
    rows: Rows, database: stack.Database
) -> None:
    for _ in range(60):
        await rows.job(rows.first)
    assert await _run_one(rows, database) == rows.first.project_id
    theirs = await rows.job(rows.second)
    async with rows.app.tenant(rows.second) as unit:
        position = (await unit.jobs.queue_positions([theirs.id]))[theirs.id]
    assert position.position == 1
    lease = await _claim(rows)
    assert lease is not None
    assert lease.id == theirs.id


async def test_many_projects_of_one_organization_get_no_more_than_one_project_of_another(
    rows: Rows,
) -> None:
    siblings = [await insert_project(rows.app, rows.first, f"p{n}") for n in range(19)]
    for tenant in (rows.first, *siblings):
        for _ in range(3):
            await rows.job(tenant)
    theirs = await rows.job(rows.second)
    async with rows.app.tenant(rows.second) as unit:
        position = (await unit.jobs.queue_positions([theirs.id]))[theirs.id]
    assert position.position == 2
    held = [await _claimed(rows) for _ in range(3)]
    assert held[1] == rows.second.project_id
    for _ in range(2):
        await rows.job(rows.second)
    assert [await _claimed(rows) for _ in range(3)].count(rows.second.project_id) == 2


@pytest.mark.parametrize("evals", [False, True])
async def test_projects_of_one_organization_share_its_claims_by_their_weights(
    rows: Rows, database: stack.Database, evals: bool
) -> None:
    heavy = await insert_project(rows.app, rows.first, "heavy")
    _execute(database, "UPDATE projects SET share_weight = 2 WHERE id = %s", heavy.project_id)
    tenants = (rows.first, heavy, rows.second)
    for tenant in tenants:
        for _ in range(12):
            await (a_run(rows, tenant) if evals else rows.job(tenant))
    held = [await _claimed(rows, evals=evals) for _ in range(12)]
    assert [held.count(tenant.project_id) for tenant in tenants] == [2, 4, 6]


async def test_an_organization_of_double_weight_gets_two_claims_of_three_and_two_workers_of_three(
    rows: Rows, database: stack.Database
) -> None:
    second = rows.second
    _execute(
        database, "UPDATE organizations SET share_weight = 2 WHERE id = %s", second.organization_id
    )
    for tenant in (rows.first, second):
        for _ in range(8):
            await rows.job(tenant)
    claimed = [await _run_one(rows, database) for _ in range(6)]
    assert claimed.count(second.project_id) == 4
    held = [await _claimed(rows) for _ in range(6)]
    assert held.count(second.project_id) == 4


async def test_rows_of_a_project_at_its_limit_cost_its_organization_no_claim(
    rows: Rows, database: stack.Database
) -> None:
    """They count for the place that users see, and cannot be claimed."""
    sibling = await insert_project(rows.app, rows.first, "sibling")
    _execute(
        database, "UPDATE projects SET max_running_jobs = 1 WHERE id = %s", rows.first.project_id
    )
    for tenant in (rows.first, sibling, rows.second):
        for _ in range(8):
            await rows.job(tenant)
    held = [await _claimed(rows) for _ in range(10)]
    tenants = (rows.first, sibling, rows.second)
    assert [held.count(tenant.project_id) for tenant in tenants] == [1, 4, 5]


async def test_what_a_project_runs_counts_before_its_virtual_time(rows: Rows) -> None:
    """The second project's virtual time is later, but it holds nothing."""
    for _ in range(3):
        await rows.job(rows.first)
    assert await _claimed(rows) == rows.first.project_id
    await rows.job(rows.second)
    assert [await _claimed(rows) for _ in range(3)] == [
        rows.second.project_id,
        rows.first.project_id,
        rows.first.project_id,
    ]


async def test_an_idle_project_saves_no_claims_up(rows: Rows, database: stack.Database) -> None:
    for _ in range(10):
        await rows.job(rows.first)
    for _ in range(6):
        await _run_one(rows, database)
    for _ in range(4):
        await rows.job(rows.second)
    order = [await _run_one(rows, database) for _ in range(8)]
    assert order.count(rows.first.project_id) == 4
    assert rows.first.project_id in order[:2]


async def test_a_project_at_its_limit_waits_and_its_own_row_replaces_the_limit(
    rows: Rows, database: stack.Database
) -> None:
    for _ in range(4):
        await rows.job(rows.first)
    assert await _claim(rows, most_held=1) is not None
    assert await _claim(rows, most_held=1) is None
    _execute(
        database, "UPDATE projects SET max_running_jobs = 3 WHERE id = %s", rows.first.project_id
    )
    assert await _claim(rows, most_held=1) is not None
    assert await _claim(rows, most_held=1) is not None
    assert await _claim(rows, most_held=1) is None


async def test_rows_of_one_project_are_claimed_in_the_order_of_their_queue(
    rows: Rows, database: stack.Database
) -> None:
    first, second, third = [await rows.job() for _ in range(3)]
    for statement in (
        "UPDATE fine_tuning_jobs SET queued_at = now() + '1 min' WHERE id = %s",
        "UPDATE fine_tuning_jobs SET not_before = now() + '1 min' WHERE id = %s",
    ):
        _execute(database, statement, (first if "queued_at" in statement else second).id)
    leases = [await _claim(rows) for _ in range(3)]
    assert [lease and lease.id for lease in leases] == [third.id, first.id, None]


async def test_a_job_of_higher_priority_comes_first_in_its_project_alone(rows: Rows) -> None:
    low, plain, high = [await rows.job(priority=priority) for priority in (-1, 0, 100)]
    theirs = await rows.job(rows.second)
    positions: dict[str, QueuePosition] = {}
    for tenant in (rows.first, rows.second):
        async with rows.app.tenant(tenant) as unit:
            positions |= await unit.jobs.queue_positions([low.id, plain.id, high.id, theirs.id])
    leases = [await _claim(rows) for _ in range(4)]
    claimed = [lease.id for lease in leases if lease is not None]
    assert claimed == [high.id, theirs.id, plain.id, low.id]
    assert [positions[job_id].position for job_id in claimed] == [1, 2, 3, 4]


async def test_a_row_that_another_transaction_has_locked_is_skipped(
    rows: Rows, database: stack.Database
) -> None:
    first, second = await rows.job(), await rows.job()
    with connect(database) as connection:
        connection.execute("SELECT 1 FROM fine_tuning_jobs WHERE id = %s FOR UPDATE", (first.id,))
        lease = await _claim(rows)
    assert lease is not None
    assert lease.id == second.id


async def test_a_claim_reads_a_bounded_part_of_the_waiting_jobs(
    rows: Rows, database: stack.Database
) -> None:
    """Counts pages, not seconds: the rows themselves fill thousands."""
    await rows.job(rows.second)
    _execute(
        database,
        "INSERT INTO fine_tuning_jobs (id, organization_id, project_id, key_id, model, status,"
        " training_file, seed, method, integrations, result_files)"
        " SELECT 'ftjob-' || n, %s, %s, 'key', 'm', 'queued', 'f', 1, '{}', '[]', '[]'"
        " FROM generate_series(1, 30000) n",
        rows.first.organization_id,
        rows.first.project_id,
    )
    _execute(database, "ANALYZE fine_tuning_jobs")
    url = database.worker_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('app.system', 'on', false)")
        explained = [  # the first call also reads the catalog, for its plan
            connection.execute(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM queue_of_fine_tuning_jobs(4)"
            ).fetchall()
            for _ in range(2)
        ]
    plan = explained[1][0][0][0]["Plan"]
    assert plan["Actual Rows"] == 5
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 200
    assert await _claimed(rows) in {rows.first.project_id, rows.second.project_id}


@pytest.mark.parametrize("table", ["fine_tuning_jobs", "eval_runs"])
def test_only_the_workers_role_may_request_the_order(table: str, database: stack.Database) -> None:
    with (
        psycopg.connect(database.app_url.replace("+psycopg", "")) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(f"SELECT * FROM queue_of_{table}(1)".encode())


def test_no_key_of_a_tenant_can_change_its_own_share(rows: Rows, database: stack.Database) -> None:
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "SELECT set_config('app.organization', %s, false)", (rows.first.organization_id,)
        )
        for column in ("share_weight", "max_queued_jobs"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(f"UPDATE projects SET {column} = 9".encode())
        assert connection.execute("UPDATE projects SET name = name").rowcount > 0
