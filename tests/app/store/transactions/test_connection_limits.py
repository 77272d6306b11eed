"""Limits of a connection: what Postgres ends by itself, and when a lost peer is noticed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.database import Database
from app.jobs.claims import job_claims
from app.kit.errors import Unavailable
from tests.support import stack
from tests.support.patience import wait_for
from tests.support.runs.world import World, opened_world
from tests.support.store.leased_kinds import connect


@pytest.fixture
async def world(database: stack.Database, tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(database, tmp_path) as world:
        yield world


LIMITS = {
    "statement_timeout": "1min",
    "idle_in_transaction_session_timeout": "30s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "20000",
}


async def test_a_connection_has_its_limits_on_both_sides(database: stack.Database) -> None:
    store = Database(database.worker_url, pool_size=1, idle_in_transaction_s=30)
    async with store.sessions() as session:
        shown = {name: await session.scalar(text(f"SHOW {name}")) for name in LIMITS}
        driver = (await (await session.connection()).get_raw_connection()).driver_connection
        assert driver is not None
        client = driver.info.get_parameters()
    await store.dispose()
    assert shown == LIMITS
    assert (client["keepalives_idle"], client["keepalives_count"]) == ("10", "3")
    assert client["tcp_user_timeout"] == "20000"


async def test_a_transaction_that_does_nothing_ends_and_frees_its_locks(
    world: World, database: stack.Database
) -> None:
    job = await world.job()
    lease = await world.claim(job)
    assert lease is not None
    store = Database(database.worker_url, pool_size=1, idle_in_transaction_s=0.2)

    def ended() -> bool:
        with connect(database) as connection:
            waiting = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
            ).fetchone()
        return waiting == (0,)

    with pytest.raises(Unavailable):
        async with store.run(lease.project_id, lease.id, lease.fence) as unit:
            await asyncio.to_thread(wait_for, ended, what="the end by Postgres")
            await unit.jobs.stop_request()
    async with store.run(lease.project_id, lease.id, lease.fence) as unit:  # a new connection
        assert await unit.jobs.stop_request() is None
    await store.dispose()


async def test_a_renewal_ends_on_a_locked_row(world: World) -> None:
    job = await world.job()
    lease = await world.claim(job)
    assert lease is not None
    async with world.worker.run(lease.project_id, lease.id, lease.fence):
        with pytest.raises(Unavailable):
            async with job_claims(world.worker).giving_up_after(0.05) as unit:
                await unit.leases.renew(lease, 30.0)
    async with job_claims(world.worker).giving_up_after(0.05) as unit:
        await unit.leases.renew(lease, 30.0)
