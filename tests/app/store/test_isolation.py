import psycopg
import pytest
from sqlalchemy.exc import ProgrammingError

from app.domain.errors import NotFound, Unavailable
from app.store.database import Database
from app.store.system import system
from tests.app.store.conftest import Rows, a_job
from tests.support import stack


async def test_a_foreign_job_is_not_found_and_not_listed(rows: Rows) -> None:
    job = await rows.job()
    async with rows.app.tenant(rows.second) as unit:
        with pytest.raises(NotFound):
            await unit.jobs.get(job.id)
        assert await unit.jobs.page(after=None, limit=10, metadata=None) == ([], False)


async def test_writing_for_another_tenant_is_refused_by_the_database(rows: Rows) -> None:
    stolen = a_job(rows.second)
    with pytest.raises(ProgrammingError, match="row-level security"):
        async with rows.app.tenant(rows.first) as unit:
            unit.jobs._project_id = rows.second.project_id
            await unit.jobs.insert(stolen, secrets=None)


async def test_without_a_tenant_there_are_no_rows(rows: Rows, database: stack.Database) -> None:
    await rows.job()
    with psycopg.connect(database.app_url.replace("+psycopg", "")) as connection:
        for table in ("fine_tuning_jobs", "organizations", "projects", "api_keys", "files"):
            found = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            assert found == (0,)


async def test_a_pooled_connection_carries_no_tenant_over(rows: Rows) -> None:
    mine, theirs = await rows.job(rows.first), await rows.job(rows.second)
    for turn in range(40):
        tenant, own, other = (rows.first, mine, theirs) if turn % 2 else (rows.second, theirs, mine)
        async with rows.app.tenant(tenant) as unit:
            assert (await unit.jobs.get(own.id)).id == own.id
        with pytest.raises(NotFound):
            async with rows.app.tenant(tenant) as unit:
                await unit.jobs.get(other.id)


async def test_the_api_role_sees_nothing_as_system(rows: Rows) -> None:
    job = await rows.job()
    async with system(rows.app) as unit:
        assert await unit.jobs.due(10, 0) == []
        assert await unit.jobs.claim(job.id, "me", 5, max_attempts=5) is None
    async with system(rows.worker) as unit:
        assert await unit.jobs.due(10, 0) == [job.id]


async def test_the_api_role_may_not_write_results(rows: Rows) -> None:
    job = await rows.job()
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with rows.app.tenant(rows.first) as unit:
            await unit.reports.upsert(job.id, {})


async def test_a_lost_server_is_unavailable(rows: Rows, database: stack.Database) -> None:
    gone = Database(database.app_url.replace("127.0.0.1:", "127.0.0.1:1"), pool_size=1)
    with pytest.raises(Unavailable):
        async with gone.tenant(rows.first) as unit:
            await unit.jobs.get("x")
    with pytest.raises(Unavailable):
        await gone.ping()
    await gone.dispose()


async def test_a_server_that_cuts_the_connection_is_unavailable(
    rows: Rows, database: stack.Database
) -> None:
    job = await rows.job()
    cut = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agent_rft_app'"
    with pytest.raises(Unavailable):
        async with rows.app.tenant(rows.first) as unit:
            with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
                connection.execute(cut)
            await unit.jobs.get(job.id)
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.jobs.get(job.id)).id == job.id
