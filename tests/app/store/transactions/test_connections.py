import asyncio
from random import Random

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.accounts.accounts import ApiKeyRow, KeyKind
from app.kit.callers import Tenant
from app.kit.errors import NotFound, Unavailable
from app.kit.ids import ProjectId
from app.kit.transactions import BaseUnitOfWork
from app.rollouts.metrics import MetricPoint
from tests.support import stack
from tests.support.store.connections import pooled_settings
from tests.support.store.rows import Rows


def a_key(tenant: Tenant) -> ApiKeyRow:
    return ApiKeyRow(
        id="key_1",
        organization_id=tenant.organization_id,
        project_id=tenant.project_id,
        kind=KeyKind.PROJECT,
        name="k",
        key_id="k" * 16,
        secret_hmac=b"digest",
        last4="abcd",
        created_at=0,
    )


async def test_a_key_is_found_by_its_look_up_part_alone(rows: Rows) -> None:
    async with rows.app.organization(rows.first.organization_id) as unit:
        await unit.keys.insert(a_key(rows.first))
    found = await rows.app.key_lookup("k" * 16).find()
    assert found is not None
    assert (found.id, found.project_id, found.kind) == (
        "key_1",
        rows.first.project_id,
        KeyKind.PROJECT,
    )
    assert (found.secret_hmac, found.revoked_at) == (b"digest", None)
    assert found.created_at > 1_700_000_000
    assert await rows.app.key_lookup("x" * 16).find() is None
    assert await rows.app.key_lookup("'; SELECT 1; --").find() is None


async def test_a_look_up_opens_nothing_to_the_next_one(rows: Rows) -> None:
    job = await rows.job()
    # Often enough that the driver has prepared the statement on every connection.
    for _ in range(20):
        assert (await rows.app.jobs(rows.first).get(job.id)).id == job.id
        with pytest.raises(NotFound):
            await rows.app.jobs(rows.second).get(job.id)
        assert await rows.app.key_lookup("k" * 16).find() is None
        assert {value or "" for value in await pooled_settings(rows.app)} == {""}
    async with rows.app.tenant(rows.second) as unit:
        assert (await unit.jobs.page(after=None, limit=10, metadata=None))[0] == []


async def test_what_a_unit_left_behind_with_an_error_is_undone(rows: Rows) -> None:
    job = await rows.job()

    async def broken() -> None:
        async with rows.app.tenant(rows.first) as unit:
            await unit.jobs.set_result_files(job.id, ["file-x"])
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await broken()
    assert (await rows.app.jobs(rows.first).get(job.id)).result_files == []
    assert {value or "" for value in await pooled_settings(rows.app)} == {""}


async def test_a_statement_that_is_cancelled_leaves_its_connection_usable(
    rows: Rows, database: stack.Database
) -> None:
    """A client that hangs up cancels its request while Postgres still works on the statement."""
    job = await rows.job()
    url = database.superuser_url.replace("+psycopg", "")
    for _ in range(2):
        with psycopg.connect(url) as connection:
            connection.execute("LOCK TABLE fine_tuning_jobs IN ACCESS EXCLUSIVE MODE")
            waiting = [asyncio.create_task(rows.app.jobs(rows.first).get(job.id)) for _ in range(2)]
            await asyncio.sleep(0.2)
            assert not any(task.done() for task in waiting)
            for task in waiting:
                task.cancel()
            found = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(result) for result in found] == [asyncio.CancelledError] * 2
            connection.rollback()
        both = await asyncio.gather(*(rows.app.jobs(rows.first).get(job.id) for _ in range(2)))
        assert [found_job.id for found_job in both] == [job.id] * 2
        with pytest.raises(NotFound):
            await rows.app.jobs(rows.second).get(job.id)
        assert {value or "" for value in await pooled_settings(rows.app)} == {""}


async def test_a_transaction_that_is_cancelled_at_any_turn_of_the_loop_leaves_its_connection_usable(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    # psycopg lets other tasks run between two steps if the event loop was busy for this time.
    monkeypatch.setattr("psycopg.waiting.MAX_BUSY_TIME", 0.0, raising=False)
    job, ended = await rows.job(), False

    async def read(tenant: Tenant) -> str:
        async with rows.app.tenant(tenant) as unit:
            return (await unit.jobs.get(job.id)).id

    turns = 0
    while not ended:
        task = asyncio.create_task(read(rows.first))
        for _ in range(turns):
            await asyncio.sleep(0)
        ended = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await read(rows.first) == job.id
        with pytest.raises(NotFound):
            await read(rows.second)
        turns += 1
    assert turns > 10


async def test_settings_are_values_and_never_statements(rows: Rows) -> None:
    hostile = "x', true); DROP TABLE journal; SELECT set_config('app.project', 'y\\"
    tenant = Tenant(rows.first.organization_id, ProjectId(hostile), "one", "key_x")
    async with rows.app.tenant(tenant) as unit:
        assert (await unit.jobs.page(after=None, limit=1, metadata=None))[0] == []


async def test_connections_that_broke_in_the_pool_cost_no_request(
    rows: Rows, database: stack.Database
) -> None:
    job = await rows.job()
    # Several at once, so that the pool holds more than one.
    await asyncio.gather(*(rows.app.jobs(rows.first).get(job.id) for _ in range(8)))
    with psycopg.connect(
        database.superuser_url.replace("+psycopg", ""), autocommit=True
    ) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'agent_rft_app' AND datname = current_database()"
        )
        await asyncio.sleep(0.2)  # the farewell has to arrive
    for _ in range(4):
        assert (await rows.app.jobs(rows.first).get(job.id)).id == job.id
        async with rows.app.tenant(rows.first) as unit:
            assert (await unit.jobs.get(job.id)).id == job.id


async def test_a_connection_that_breaks_in_the_middle_is_a_503(
    rows: Rows, database: stack.Database
) -> None:
    job = await rows.job()

    async def cut_off() -> None:
        async with rows.app.tenant(rows.first) as unit:
            await unit.jobs.get(job.id)
            with psycopg.connect(
                database.superuser_url.replace("+psycopg", ""), autocommit=True
            ) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE usename = 'agent_rft_app' AND datname = current_database()"
                )
            await unit.jobs.set_result_files(job.id, ["file-x"])

    with pytest.raises(Unavailable):
        await cut_off()
    assert (await rows.app.jobs(rows.first).get(job.id)).result_files == []


class _Session(BaseUnitOfWork):
    async def execute(self, statement: str) -> None:
        await self._session.execute(text(statement))


@pytest.mark.parametrize(
    ("code", "passes"),
    [
        ("08006", True),
        ("53100", True),
        ("57014", True),
        ("54000", False),
        ("22003", False),
    ],
)
async def test_an_error_of_the_server_is_a_503_and_one_of_the_statement_is_not(
    rows: Rows, code: str, passes: bool
) -> None:
    async def fail() -> None:
        async with _Session(rows.app.sessions, {"app.project": rows.first.project_id}) as unit:
            await unit.execute(f"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '{code}'; END $$")

    with pytest.raises(Unavailable if passes else DBAPIError):
        await fail()


async def test_a_name_beyond_the_index_is_no_lost_database(rows: Rows) -> None:
    """Words that Postgres cannot compress, in a column with an index."""
    job = await rows.job()
    name = Random(7).randbytes(9_000).hex()
    with pytest.raises(DBAPIError, match="index row"):
        async with rows.worker.tenant(rows.first) as unit:
            await unit.metrics.upsert(job.id, [MetricPoint(name, "train", 1, 1.0)])
