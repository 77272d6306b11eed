"""For whom a place would be that a project gives back, on a real Postgres."""

from dataclasses import replace
from typing import Any

from app.jobs.claims import job_claims
from tests.support import stack
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows
from tests.support.store.tenants import insert_project


def execute(database: stack.Database, statement: str, *values: Any) -> None:
    with connect(database) as connection:
        connection.execute(statement.encode(), values)


async def claimed(rows: Rows) -> str:
    async with job_claims(rows.worker) as unit:
        lease = await unit.leases.claim_next("w", 30, max_attempts=3, most_held=9)
    assert lease is not None
    return lease.project_id


async def come_first(rows: Rows, project: str, *, siblings: bool = True, own: bool = False) -> bool:
    async with job_claims(rows.worker) as unit:
        return await unit.leases.others_come_first(
            project, max_attempts=3, most_held=2, siblings=siblings, own=own
        )


async def test_a_slot_is_for_an_organization_that_holds_less_without_it(
    rows: Rows, database: stack.Database
) -> None:
    first, second = rows.first.project_id, rows.second.project_id
    sibling = (await insert_project(rows.app, rows.first, "sibling")).project_id
    for tenant in (rows.first, rows.first, rows.second, rows.second):
        await rows.job(tenant)
    assert [await claimed(rows) for _ in range(3)] == [first, second, first]
    # The first holds two and the second one: a place would only change sides.
    assert not await come_first(rows, first)
    assert not await come_first(rows, second)
    weight = "UPDATE organizations SET share_weight = %s WHERE id = %s"
    execute(database, weight, 2, rows.second.organization_id)
    assert await come_first(rows, first, siblings=False)
    assert not await come_first(rows, second)
    execute(database, weight, 1, rows.second.organization_id)
    await rows.job(replace(rows.first, project_id=sibling))
    assert await come_first(rows, first)
    assert not await come_first(rows, first, siblings=False)
    assert not await come_first(rows, second)


async def test_no_slot_is_for_a_project_at_its_limit(rows: Rows, database: stack.Database) -> None:
    for tenant in (rows.first, rows.second):
        await rows.job(tenant)
    assert await claimed(rows) == rows.first.project_id
    assert await come_first(rows, rows.first.project_id)
    execute(
        database, "UPDATE projects SET max_running_jobs = 0 WHERE id = %s", rows.second.project_id
    )
    assert not await come_first(rows, rows.first.project_id)


async def test_a_slot_is_for_the_projects_own_next_row_at_its_limit_too(
    rows: Rows, database: stack.Database
) -> None:
    project = rows.first.project_id
    execute(database, "UPDATE projects SET max_running_jobs = 1 WHERE id = %s", project)
    await rows.job(rows.first)
    assert await claimed(rows) == project
    assert not await come_first(rows, project, own=True)
    await rows.job(rows.first)
    assert await come_first(rows, project, own=True)
    assert not await come_first(rows, project)
    execute(database, "UPDATE projects SET max_running_jobs = 0 WHERE id = %s", project)
    assert not await come_first(rows, project, own=True)
