"""The insert of a job, alone and inside a transaction: all of it or nothing, for one tenant."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from app.evals.evals import eval_of_job
from app.files.files import FileRow
from app.jobs.jobs import Job
from app.jobs.store import JobStore
from app.kit.callers import Tenant
from app.kit.errors import AuthenticationFailed, InvalidRequest, NotFound
from app.kit.ids import ProjectId
from tests.support.store.connections import pooled_settings
from tests.support.store.rows import Rows, a_job

GRADER = {"type": "endpoint", "url": "http://127.0.0.1:9", "name": "g"}


def a_file(file_id: str, purpose: str = "fine-tune", **changes: Any) -> FileRow:
    row = FileRow(file_id, "", "f", purpose, 1, "00", "k", "processed", None, 0, None)
    return replace(row, **changes)


async def with_files(rows: Rows, *files: FileRow, tenant: Tenant | None = None) -> None:
    async with rows.app.tenant(tenant or rows.first) as unit:
        for file in files:
            await unit.files.insert(file)


class Woken:
    def __init__(self) -> None:
        self.times = 0

    async def __call__(self) -> None:
        self.times += 1


Jobs = Callable[[Rows, Tenant], AbstractAsyncContextManager[JobStore]]


@asynccontextmanager
async def alone(rows: Rows, tenant: Tenant) -> AsyncIterator[JobStore]:
    yield rows.app.jobs(tenant)


@asynccontextmanager
async def in_unit(rows: Rows, tenant: Tenant) -> AsyncIterator[JobStore]:
    async with rows.app.tenant(tenant) as unit:
        yield unit.jobs


@asynccontextmanager
async def in_request(rows: Rows, tenant: Tenant) -> AsyncIterator[JobStore]:
    async with rows.app.request(tenant) as unit:
        end = unit.begin_request_transaction()
        try:
            yield rows.app.jobs(tenant)
        finally:
            end()


every_way = pytest.mark.parametrize("way", [alone, in_unit, in_request])


async def insert(jobs: JobStore, job: Job, woken: Woken) -> Job:
    return await jobs.insert_checked(
        job,
        secrets=b"sealed",
        job_eval=eval_of_job(job.id, GRADER),
        event_message="made",
        after_commit=woken,
    )


async def counts(rows: Rows, tenant: Tenant) -> tuple[int, int, int]:
    async with rows.app.tenant(tenant) as unit:
        found = await unit.jobs._session.execute(
            text(
                "SELECT (SELECT count(*) FROM fine_tuning_jobs), (SELECT count(*) FROM evals),"
                " (SELECT count(*) FROM job_events)"
            )
        )
        jobs, evals, events = found.one()
    return jobs, evals, events


@every_way
async def test_a_warning_is_the_second_event_of_the_same_statement(rows: Rows, way: Jobs) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    job = a_job(rows.first)
    async with way(rows, rows.first) as jobs:
        await jobs.insert_checked(
            job,
            secrets=None,
            job_eval=None,
            event_message="made",
            warnings=["an unknown key", "another"],
            after_commit=Woken(),
        )
    async with rows.app.tenant(rows.first) as unit:
        newest_first, _ = await unit.events.page(job.id, after=None, limit=5)
    shown = [(event.level, event.message) for event in newest_first]
    assert shown == [("warn", "another"), ("warn", "an unknown key"), ("info", "made")]


@every_way
async def test_a_job_comes_with_its_eval_and_its_first_event(rows: Rows, way: Jobs) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    woken = Woken()
    job = a_job(rows.first)
    # Often enough that the driver has prepared the statement, and Postgres a plan for any values.
    for number in range(1, 12):
        job = replace(a_job(rows.first), metadata={"n": str(number)}, suffix="'; --")
        async with way(rows, rows.first) as jobs:
            made = await insert(jobs, job, woken)
            assert made == await jobs.get(job.id)
        assert (made.id, made.metadata, made.suffix) == (job.id, {"n": str(number)}, "'; --")
        assert made == await rows.app.jobs(rows.first).get(job.id)
        assert await counts(rows, rows.first) == (number, number, number)
        assert woken.times == number
        assert {value or "" for value in await pooled_settings(rows.app)} == {""}
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.evals.get(eval_of_job(job.id, GRADER).id)).job_id == job.id
        [event] = (await unit.events.page(job.id, after=None, limit=9))[0]
        assert (event.message, event.level, event.type, event.data) == (
            "made",
            "info",
            "message",
            None,
        )
    assert await counts(rows, rows.second) == (0, 0, 0)
    with pytest.raises(NotFound):
        await rows.app.jobs(rows.second).get(job.id)


@every_way
@pytest.mark.parametrize(
    ("files", "param", "text"),
    [
        ([a_file("file-a")], "validation_file", "file-b does not exist"),
        ([a_file("file-a"), a_file("file-b", "evals")], "validation_file", "purpose 'evals'"),
        ([a_file("file-a", expires_at=-1), a_file("file-b")], "training_file", "does not exist"),
        ([], "training_file", "file-a does not exist"),
    ],
)
async def test_an_unusable_file_leaves_nothing(
    rows: Rows, way: Jobs, *, files: list[FileRow], param: str, text: str
) -> None:
    await with_files(rows, *files)
    # Another tenant's files count as missing, also under the same ids.
    await with_files(rows, a_file("file-a"), a_file("file-b"), tenant=rows.second)
    woken = Woken()
    with pytest.raises(InvalidRequest, match=text) as refusal:
        async with way(rows, rows.first) as jobs:
            await insert(jobs, a_job(rows.first), woken)
    assert refusal.value.param == param
    assert await counts(rows, rows.first) == (0, 0, 0)
    assert woken.times == 0
    assert {value or "" for value in await pooled_settings(rows.app)} == {""}


@every_way
async def test_a_project_that_is_archived_or_hidden_takes_none(rows: Rows, way: Jobs) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    nowhere = replace(rows.first, project_id=ProjectId("x', true); DROP TABLE journal; --"))
    with pytest.raises(AuthenticationFailed):
        async with way(rows, nowhere) as jobs:
            await insert(jobs, a_job(nowhere), Woken())
    with pytest.raises(AuthenticationFailed):
        async with way(rows, rows.second) as jobs:
            await insert(jobs, a_job(rows.first), Woken())
    async with rows.app.organization(rows.first.organization_id) as unit:
        await unit.projects.mark_archived(rows.first.project_id)
    with pytest.raises(AuthenticationFailed):
        async with way(rows, rows.first) as jobs:
            await insert(jobs, a_job(rows.first), Woken())
    assert await counts(rows, rows.first) == (0, 0, 0)


@every_way
async def test_an_organization_that_is_not_the_projects_is_refused_by_the_database(
    rows: Rows, way: Jobs
) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    odd = replace(a_job(rows.first), organization_id=rows.second.organization_id)
    with pytest.raises(Exception, match="fk_fine_tuning_jobs_organization_id_project_id"):
        async with way(rows, rows.first) as jobs:
            await insert(jobs, odd, Woken())
    assert await counts(rows, rows.first) == (0, 0, 0)
    assert {value or "" for value in await pooled_settings(rows.app)} == {""}


async def test_the_callback_waits_for_the_commit_of_the_request(rows: Rows) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    woken = Woken()
    async with in_request(rows, rows.first) as jobs:
        await insert(jobs, a_job(rows.first), woken)
        assert woken.times == 0
        assert await counts(rows, rows.first) == (1, 1, 1)
    assert woken.times == 1
    with pytest.raises(RuntimeError, match="broken"):
        async with in_request(rows, rows.first) as jobs:
            await insert(jobs, a_job(rows.first), woken)
            raise RuntimeError("broken")
    assert woken.times == 1
    assert await counts(rows, rows.first) == (1, 1, 1)


async def test_two_tenants_on_few_connections_never_see_each_other(rows: Rows) -> None:
    """Runs statements of both tenants, in and outside of transactions, on one pool."""
    for tenant in (rows.first, rows.second):
        await with_files(rows, a_file("file-a"), a_file("file-b"), tenant=tenant)

    async def insert_and_read(number: int) -> None:
        tenant, other = (rows.first, rows.second) if number % 2 else (rows.second, rows.first)
        job = a_job(tenant)
        made = await insert(rows.app.jobs(tenant), job, Woken())
        assert made.project_id == tenant.project_id
        with pytest.raises(NotFound):
            await rows.app.jobs(other).get(job.id)
        assert await rows.app.jobs(other).queue_positions([job.id]) == {}
        assert set(await rows.app.jobs(tenant).queue_positions([job.id])) == {job.id}
        async with rows.app.tenant(other) as unit:
            page, _ = await unit.jobs.page(after=None, limit=100, metadata=None)
            assert {each.project_id for each in page} <= {other.project_id}

    await asyncio.gather(*(insert_and_read(number) for number in range(60)))
    assert await counts(rows, rows.first) == (30, 30, 30)
    for _ in range(10):
        assert {value or "" for value in await pooled_settings(rows.app)} == {""}
