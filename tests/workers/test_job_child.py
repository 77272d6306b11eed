"""The child as a process: how it ends, and that it ends with its parent."""

from contextlib import AbstractContextManager

import psycopg
import pytest

from app.jobs.jobs import JobStatus
from tests.support import stack
from tests.support.patience import until
from tests.support.processes.child_processes import StartedChild, child, warm_up
from tests.support.runs.world import World
from tests.support.store.leased_kinds import connect
from workers.processes.child import EXIT_LEASE_LOST, EXIT_ORPHANED


@pytest.fixture(scope="module", autouse=True)
def _warm_fork_server() -> None:
    warm_up()


def _child(world: World, job_id: str, fence: int) -> AbstractContextManager[StartedChild]:
    return child(
        *("-m", "workers.job_child", job_id, world.tenant.project_id, str(fence)),
        settings=world.settings,
    )


def waits_for_a_row(database: stack.Database) -> bool:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock'"
    )
    with connect(database) as connection:
        found = connection.execute(query).fetchone()
    return found is not None and bool(found[0])


async def test_an_overtaken_child_logs_it_and_ends(world: World) -> None:
    job = await world.job()
    await world.context(job)
    newer = await world.context(job)
    with _child(world, job.id, newer.fence - 1) as overtaken:
        assert await overtaken.exit_code() == EXIT_LEASE_LOST
        (line,) = overtaken.errors.read_text().splitlines()
    assert "lease lost" in line
    assert job.id in line


async def test_a_child_ends_with_its_parent_whatever_it_is_doing(
    world: World, database: stack.Database
) -> None:
    job = await world.job()
    context = await world.context(job)
    async with context.unit():  # the child waits for this row
        with _child(world, job.id, context.fence) as orphan:
            await until(lambda: waits_for_a_row(database), what="the child's wait")
            assert orphan.process.returncode is None
            orphan.line.close()
            assert await orphan.exit_code() == EXIT_ORPHANED


async def test_a_job_that_cannot_run_fails_with_its_reason_and_the_child_ends_well(
    world: World,
) -> None:
    job = await world.job()
    context = await world.context(job)  # of a base model that no setting offers
    with _child(world, job.id, context.fence) as started:
        assert await started.exit_code() == 0
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "model_not_available"


@pytest.mark.parametrize("lost", [None, b"damaged"])
async def test_a_job_whose_secrets_are_lost_fails_at_its_first_attempt(
    world: World, database: stack.Database, lost: bytes | None
) -> None:
    job = await world.job()
    context = await world.context(job)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET secrets = %s, method = jsonb_set(method, "
            """'{reinforcement,grader,headers}', '{"X-Key": "[redacted]"}')""",
            (lost,),
        )
    with _child(world, job.id, context.fence) as started:
        assert await started.exit_code() == 0
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "secrets_lost"


async def test_a_job_whose_method_is_refused_today_fails_at_its_first_attempt(
    world: World, database: stack.Database
) -> None:
    job = await world.job()
    context = await world.context(job)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE fine_tuning_jobs SET method = jsonb_set(method, '{reinforcement,grader}', "
            """'{"type": "regex", "pattern": 7}')"""
        )
    with _child(world, job.id, context.fence) as started:
        assert await started.exit_code() == 0
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert (failed.error.code, failed.error.param) == (
        "definition_refused",
        "method.reinforcement.grader.pattern",
    )
    assert str(failed.error.message).startswith(
        "This job was made under earlier rules and is refused today. Invalid value for"
    )
