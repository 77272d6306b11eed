"""The bounds of the weights that an operator sets, on a real Postgres."""

import psycopg
import pytest

from tests.support import stack
from tests.support.store.leased_kinds import connect
from tests.support.store.rows import Rows


@pytest.mark.parametrize("table", ["organizations", "projects"])
@pytest.mark.parametrize("weight", ["NaN", "Infinity", "1e-320", "0", "-1", "1e7"])
async def test_a_weight_without_a_share_is_refused(
    rows: Rows, database: stack.Database, table: str, weight: str
) -> None:
    assert rows.first.project_id
    change = f"UPDATE {table} SET share_weight = %s"
    with connect(database) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(change.encode(), (weight,))


@pytest.mark.parametrize("table", ["organizations", "projects"])
async def test_weights_may_be_far_apart(rows: Rows, database: stack.Database, table: str) -> None:
    for weight in (1e-6, 1e6):
        with connect(database) as connection:
            connection.execute(f"UPDATE {table} SET share_weight = %s".encode(), (weight,))
        job = await rows.job(rows.first)
        async with rows.app.tenant(rows.first) as unit:
            assert (await unit.jobs.queue_positions([job.id]))[job.id].position >= 1
