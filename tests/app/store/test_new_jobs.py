"""A job written by one statement outside of a transaction: all of it or nothing, for one tenant."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.domain.accounts.tenants import Tenant
from app.domain.data.files import FileRow
from app.domain.errors import AuthenticationFailed, NotFound
from app.domain.evals.evals import eval_of_job
from app.domain.ids import ProjectId
from app.domain.jobs.jobs import Job
from app.store.jobs.new_jobs import NewRows
from app.store.jobs.rows import new_rows
from tests.support.store.connections import left
from tests.support.store.rows import Rows, a_job

GRADER = {"type": "endpoint", "url": "http://127.0.0.1:9", "name": "g"}


def a_file(file_id: str, purpose: str = "fine-tune", **changes: Any) -> FileRow:
    row = FileRow(file_id, "", "f", purpose, 1, "00", "k", "processed", None, 0, None)
    return replace(row, **changes)


async def with_files(rows: Rows, *files: FileRow, tenant: Tenant | None = None) -> None:
    async with rows.app.tenant(tenant or rows.first) as unit:
        for file in files:
            await unit.files.insert(file)


def the_rows(job: Job) -> NewRows:
    return new_rows(job, secrets=b"sealed", evaluated=eval_of_job(job.id, GRADER), told="made")


class Woken:
    def __init__(self) -> None:
        self.times = 0

    async def __call__(self) -> None:
        self.times += 1


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


async def test_a_job_comes_with_its_eval_and_its_first_event(rows: Rows) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    woken = Woken()
    job = a_job(rows.first)
    # Often enough that the driver has prepared the statement, and Postgres a plan for any values.
    for number in range(1, 12):
        job = replace(a_job(rows.first), metadata={"n": str(number)}, suffix="'; --")
        made, purposes = await rows.app.insert_job(rows.first, the_rows(job), then=woken)
        assert purposes == {"file-a": "fine-tune", "file-b": "fine-tune"}
        assert made is not None
        assert (made.id, made.metadata, made.suffix) == (job.id, {"n": str(number)}, "'; --")
        assert made == await rows.app.find_job(rows.first, job.id)
        assert await counts(rows, rows.first) == (number, number, number)
        assert {one or "" for one in await left(rows.app)} == {""}
    assert woken.times == 11
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
        await rows.app.find_job(rows.second, job.id)


@pytest.mark.parametrize(
    ("files", "purposes"),
    [
        ([a_file("file-a")], {"file-a": "fine-tune"}),
        ([a_file("file-a"), a_file("file-b", "evals")], {"file-a": "fine-tune", "file-b": "evals"}),
        ([a_file("file-a", expires_at=1), a_file("file-b")], {"file-b": "fine-tune"}),
        ([], {}),
    ],
)
async def test_a_file_that_will_not_do_leaves_nothing(
    rows: Rows, files: list[FileRow], purposes: dict[str, str]
) -> None:
    await with_files(rows, *files)
    # Another tenant's files are as none, under the same ids too.
    await with_files(rows, a_file("file-a"), a_file("file-b"), tenant=rows.second)
    woken = Woken()
    found = await rows.app.insert_job(rows.first, the_rows(a_job(rows.first)), then=woken)
    assert found == (None, purposes)
    async with rows.app.tenant(rows.first) as unit:
        assert await unit.jobs.admit(the_rows(a_job(rows.first))) == (None, purposes)
    assert await counts(rows, rows.first) == (0, 0, 0)
    assert woken.times == 0
    assert {one or "" for one in await left(rows.app)} == {""}


async def test_one_file_may_be_both(rows: Rows) -> None:
    await with_files(rows, a_file("file-a"))
    job = replace(a_job(rows.first), validation_file="file-a")
    made, _ = await rows.app.insert_job(rows.first, the_rows(job), then=Woken())
    assert made is not None


async def test_a_project_that_is_archived_or_out_of_sight_takes_none(rows: Rows) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    nowhere = replace(rows.first, project_id=ProjectId("x', true); DROP TABLE journal; --"))
    with pytest.raises(AuthenticationFailed):
        await rows.app.insert_job(nowhere, the_rows(a_job(nowhere)), then=Woken())
    async with rows.app.organization(rows.first.organization_id) as unit:
        await unit.projects.mark_archived(rows.first.project_id)
    with pytest.raises(AuthenticationFailed):
        await rows.app.insert_job(rows.first, the_rows(a_job(rows.first)), then=Woken())
    assert await counts(rows, rows.first) == (0, 0, 0)


async def test_an_organization_that_is_not_the_projects_is_refused_by_the_database(
    rows: Rows,
) -> None:
    await with_files(rows, a_file("file-a"), a_file("file-b"))
    odd = replace(a_job(rows.first), organization_id=rows.second.organization_id)
    with pytest.raises(IntegrityError):
        async with rows.app.tenant(rows.first) as unit:
            await unit.jobs.admit(the_rows(odd))
    with pytest.raises(Exception, match="fk_fine_tuning_jobs_organization_id_project_id"):
        await rows.app.insert_job(rows.first, the_rows(odd), then=Woken())
    assert await counts(rows, rows.first) == (0, 0, 0)


async def test_two_tenants_on_few_connections_never_see_each_other(rows: Rows) -> None:
    """Statements of both, outside of transactions and in them, on the connections of one pool."""
    for tenant in (rows.first, rows.second):
        await with_files(rows, a_file("file-a"), a_file("file-b"), tenant=tenant)

    async def one(number: int) -> None:
        tenant, other = (rows.first, rows.second) if number % 2 else (rows.second, rows.first)
        job = a_job(tenant)
        made, _ = await rows.app.insert_job(tenant, the_rows(job), then=Woken())
        assert made is not None
        assert made.project_id == tenant.project_id
        with pytest.raises(NotFound):
            await rows.app.find_job(other, job.id)
        assert await rows.app.find_places(other, [job.id]) == {}
        assert set(await rows.app.find_places(tenant, [job.id])) == {job.id}
        async with rows.app.tenant(other) as unit:
            page, _ = await unit.jobs.page(after=None, limit=100, metadata=None)
            assert {each.project_id for each in page} <= {other.project_id}

    await asyncio.gather(*(one(number) for number in range(60)))
    assert await counts(rows, rows.first) == (30, 30, 30)
    for _ in range(10):
        assert {one or "" for one in await left(rows.app)} == {""}
