"""The bounds of the weights that an operator sets, on a real Postgres."""

from dataclasses import replace

import psycopg
import pytest

from app.kit.ids import ProjectId
from tests.support import stack
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows


@pytest.mark.parametrize("table", ["organizations", "projects"])
@pytest.mark.parametrize("weight", ["NaN", "Infinity", "0"])
async def test_a_weight_without_a_share_is_refused(
    rows: Rows, database: stack.Database, table: str, weight: str
) -> None:
    assert rows.first.project_id
    change = f"UPDATE {table} SET share_weight = %s"
    with connect(database) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(change.encode(), (weight,))


@pytest.mark.parametrize("table", ["organizations", "projects"])
async def test_weights_may_be_far_apart(rows: Rows, database: stack.Database, table: str) -> None:
    """The second job of the light one waits for all jobs of the heavy one."""
    light = rows.first
    heavy = (
        rows.second
        if table == "organizations"
        else replace(light, project_id=ProjectId("proj_heavy"))
    )
    owner = "organization_id" if table == "organizations" else "project_id"
    with connect(database) as connection:
        connection.execute(
            b"INSERT INTO projects (id, organization_id, name) VALUES ('proj_heavy', %s, 'heavy')",
            (light.organization_id,),
        )
        for tenant, weight in ((light, 1e-6), (heavy, 1e6)):
            change = f"UPDATE {table} SET share_weight = %s WHERE id = %s"
            connection.execute(change.encode(), (weight, getattr(tenant, owner)))
    jobs = {tenant: [(await rows.job(tenant)).id for _ in range(3)] for tenant in (light, heavy)}
    positions = []
    for tenant, ids in jobs.items():
        async with rows.app.tenant(tenant) as unit:
            found = await unit.jobs.queue_positions(ids)
        positions.append([found[each].position for each in ids])
    assert positions == [[1, 5, 6], [2, 3, 4]]
