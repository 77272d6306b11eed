"""Due sessions are claimed in an order that is fair over organizations, then projects, on a real
Postgres.
"""

import asyncio
from typing import Any

from app.database import CoachClaim
from app.kit.callers import Tenant
from app.teaching.coach.sessions import CoachSession
from tests.support import stack
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows
from tests.support.store.tenants import insert_project

LEASE_S = 60.0


def _execute(database: stack.Database, statement: str, *values: Any) -> None:
    with connect(database) as connection:
        connection.execute(statement.encode(), values)


async def _sessions(
    rows: Rows, database: stack.Database, tenant: Tenant, count: int, *, age_s: int = 0
) -> None:
    """Inserts students with a session each, whose step is due since `age_s`."""
    names = [f"s{number}" for number in range(count)]
    _execute(
        database,
        "INSERT INTO students (project_id, name, base_model, regression_sets)"
        " SELECT %s, name, 'tiny-agent', '[]' FROM unnest(%s::text[]) AS name",
        *(tenant.project_id, names),
    )
    async with rows.app.tenant(tenant) as unit:
        for name in names:
            session = CoachSession(
                id=f"coach_{tenant.project_id}_{name}",
                student=name,
                training_file="file_a",
                validation_file="file_b",
                method={},
            )
            await unit.coach_sessions.insert(session, tenant, secrets=None)
    _execute(
        database,
        "UPDATE coach_sessions SET next_step_at = now() - make_interval(secs => %s)"
        " WHERE project_id = %s",
        *(age_s, tenant.project_id),
    )


async def _step(rows: Rows, database: stack.Database) -> list[Tenant]:
    """Claims two sessions and ends their steps; the next ones are due at once. Returns their
    tenants.
    """
    claims = await rows.app.claim_coach_sessions(2, LEASE_S)
    for claim in claims:
        _execute(
            database,
            "UPDATE coach_sessions SET lease_until = NULL, next_step_at = now() WHERE id = %s",
            claim.lease.id,
        )
    return [claim.tenant for claim in claims]


def _projects(claims: list[CoachClaim]) -> list[str]:
    return [claim.lease.project_id for claim in claims]


async def test_many_older_sessions_of_one_project_do_not_delay_the_step_of_another(
    rows: Rows, database: stack.Database
) -> None:
    await _sessions(rows, database, rows.first, 40, age_s=3600)
    await _sessions(rows, database, rows.second, 1)
    claims = await rows.app.claim_coach_sessions(2, LEASE_S)
    assert sorted(_projects(claims)) == sorted([rows.first.project_id, rows.second.project_id])
    assert {claim.tenant for claim in claims} == {rows.first, rows.second}


async def test_a_project_has_one_step_in_flight_while_another_is_due(
    rows: Rows, database: stack.Database
) -> None:
    await _sessions(rows, database, rows.first, 3, age_s=3600)
    assert _projects(await rows.app.claim_coach_sessions(1, LEASE_S)) == [rows.first.project_id]
    await _sessions(rows, database, rows.second, 1)
    sibling = await insert_project(rows.app, rows.first, "sibling")
    await _sessions(rows, database, sibling, 1)
    order = [_projects(await rows.app.claim_coach_sessions(1, LEASE_S)) for _ in range(4)]
    first = [rows.first.project_id]
    assert order == [[rows.second.project_id], [sibling.project_id], first, first]


async def test_organizations_alternate_however_long_their_sessions_have_waited(
    rows: Rows, database: stack.Database
) -> None:
    siblings = [await insert_project(rows.app, rows.first, f"p{number}") for number in range(3)]
    for number, tenant in enumerate((rows.first, *siblings)):
        await _sessions(rows, database, tenant, 6, age_s=3600 + number)
    await _sessions(rows, database, rows.second, 6)
    steps = [tenant for _ in range(12) for tenant in await _step(rows, database)]
    counts = [steps.count(tenant) for tenant in (rows.first, *siblings, rows.second)]
    assert counts == [3, 3, 3, 3, 12]


async def test_claims_at_the_same_time_take_different_sessions(
    rows: Rows, database: stack.Database
) -> None:
    await _sessions(rows, database, rows.first, 3)
    claims = await asyncio.gather(
        *(store.claim_coach_sessions(3, LEASE_S) for store in (rows.app, rows.app))
    )
    leases = [claim.lease for group in claims for claim in group]
    leases += [claim.lease for claim in await rows.app.claim_coach_sessions(3, LEASE_S)]
    assert len({lease.id for lease in leases}) == len(leases) == 3
    assert {lease.fence for lease in leases} == {1}


async def test_sessions_that_wait_are_paused_or_are_held_are_not_claimed(
    rows: Rows, database: stack.Database
) -> None:
    await _sessions(rows, database, rows.first, 3)
    changes = ("status = 'paused'", "next_step_at = now() + interval '1 hour'", "fence = 7")
    for number, change in enumerate(changes):
        _execute(database, f"UPDATE coach_sessions SET {change} WHERE student = %s", f"s{number}")
    [claim] = await rows.app.claim_coach_sessions(9, LEASE_S)
    assert (claim.lease.id[-2:], claim.lease.fence) == ("s2", 8)
    assert await rows.app.claim_coach_sessions(9, LEASE_S) == []
