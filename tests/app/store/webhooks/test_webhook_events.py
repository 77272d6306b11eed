"""Each end of a job or a run is one event, committed with it and delivered to its subscribers."""

from collections.abc import Awaitable, Callable

import psycopg
import pytest

from app.evals.claims import eval_claims, leased_eval_run
from app.evals.evals import EvalRun
from app.events.store import wrote_end
from app.jobs.claims import job_claims
from app.jobs.jobs import Job, JobError, StopRequest
from app.jobs.methods import StoredSupervisedMethod
from app.kit.errors import WrongState
from app.maintenance import maintenance
from app.webhooks.deliveries import delivery_claims
from app.webhooks.events import EVENT_TYPES
from tests.support import stack
from tests.support.store import evals
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.rows import Rows
from tests.support.store.webhook_events import an_endpoint, cancel, fan_out


async def events(rows: Rows, database: stack.Database) -> list[tuple[str, str, str, int]]:
    """Returns type, subject and project of each event, and its number of deliveries."""
    await fan_out(rows)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(
            "SELECT e.type, e.subject, e.project_id, count(d.id) FROM webhook_events e"
            " LEFT JOIN webhook_deliveries d ON d.project_id = e.project_id AND d.event_id = e.id"
            " GROUP BY 1, 2, 3 ORDER BY 1"
        ).fetchall()


async def succeed(rows: Rows, job: Job) -> None:
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.jobs.mark_validated(1, StoredSupervisedMethod({"type": "supervised"}))
        await run.jobs.mark_running()
        await run.jobs.mark_succeeded("ft:x")


async def fail(rows: Rows, job: Job) -> None:
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        await run.jobs.mark_failed(JobError("a", "b", None))


async def cancel_while_held(rows: Rows, job: Job) -> None:
    await claimed_rows(rows, job)
    await cancel(rows, job)


async def lose(rows: Rows, job: Job) -> None:
    await claimed_rows(rows, job, lease_s=-1)
    async with job_claims(rows.worker) as unit:
        for lost in await unit.leases.exhausted(1):
            await unit.leases.fail(lost, "died too often")


JOB_ENDS: dict[str, tuple[Callable[[Rows, Job], Awaitable[None]], str]] = {
    "succeeded": (succeed, "fine_tuning.job.succeeded"),
    "failed": (fail, "fine_tuning.job.failed"),
    "cancelled": (cancel, "fine_tuning.job.cancelled"),
    "cancelled while held": (cancel_while_held, "fine_tuning.job.cancelled"),
    "worker lost": (lose, "fine_tuning.job.failed"),
}


@pytest.mark.parametrize("name", JOB_ENDS)
async def test_each_end_of_a_job_is_one_event(
    rows: Rows, database: stack.Database, name: str
) -> None:
    end, event_type = JOB_ENDS[name]
    await an_endpoint(rows)
    await an_endpoint(rows, rows.second)
    job = await rows.job()
    await end(rows, job)
    wanted = [(event_type, job.id, rows.first.project_id, 1)]
    assert await events(rows, database) == wanted
    with pytest.raises(WrongState):
        await cancel(rows, job)
    async with job_claims(rows.worker) as unit:
        assert await unit.leases.exhausted(1) == []
    assert await events(rows, database) == wanted


async def complete_run(rows: Rows, run: EvalRun) -> None:
    async with leased_eval_run(rows.worker, await evals.claim(rows, run)) as unit:
        await unit.run.complete()


async def fail_run(rows: Rows, run: EvalRun) -> None:
    async with leased_eval_run(rows.worker, await evals.claim(rows, run)) as unit:
        await unit.run.fail("a", "b")


async def cancel_run(rows: Rows, run: EvalRun) -> None:
    async with rows.app.tenant(rows.first) as unit:
        await unit.eval_runs.cancel(run.eval_id, run.id)


async def lose_run(rows: Rows, run: EvalRun) -> None:
    await evals.claim(rows, run, lease_s=-1)
    async with eval_claims(rows.worker) as unit:
        [lost] = await unit.leases.exhausted(1)
        assert lost.id == run.id
        await unit.leases.fail(lost, "died too often")


RUN_ENDS: dict[str, tuple[Callable[[Rows, EvalRun], Awaitable[None]], str]] = {
    "completed": (complete_run, "eval.run.succeeded"),
    "failed": (fail_run, "eval.run.failed"),
    "canceled": (cancel_run, "eval.run.canceled"),
    "worker lost": (lose_run, "eval.run.failed"),
}


@pytest.mark.parametrize("name", RUN_ENDS)
async def test_each_end_of_a_run_is_one_event(
    rows: Rows, database: stack.Database, name: str
) -> None:
    end, event_type = RUN_ENDS[name]
    await an_endpoint(rows)
    run = await evals.a_run(rows)
    await end(rows, run)
    wanted = [(event_type, run.id, rows.first.project_id, 1)]
    assert await events(rows, database) == wanted
    with pytest.raises(WrongState):
        await cancel_run(rows, run)
    async with eval_claims(rows.worker) as unit:
        assert await unit.leases.exhausted(1) == []
    assert await events(rows, database) == wanted


async def test_lost_runs_and_jobs_of_several_tenants_are_reported_to_each(
    rows: Rows, database: stack.Database
) -> None:
    jobs = [await rows.job(tenant) for tenant in (rows.first, rows.second)]
    for tenant, job in zip((rows.first, rows.second), jobs, strict=True):
        await an_endpoint(rows, tenant)
        await claimed_rows(rows, job, lease_s=-1)
    async with job_claims(rows.worker) as unit:
        for lost in await unit.leases.exhausted(1):
            await unit.leases.fail(lost, "died too often")
    assert sorted(await events(rows, database)) == sorted(
        ("fine_tuning.job.failed", job.id, job.project_id, 1) for job in jobs
    )


async def test_an_event_goes_to_all_who_want_it_and_with_its_transaction(
    rows: Rows, database: stack.Database
) -> None:
    for types in (EVENT_TYPES, ("fine_tuning.job.cancelled",), ("fine_tuning.job.failed",)):
        await an_endpoint(rows, None, *types)
    job = await rows.job()
    with pytest.raises(ZeroDivisionError):
        async with rows.app.tenant(rows.first) as unit:
            await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
            raise ZeroDivisionError
    assert await events(rows, database) == []
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
        assert wrote_end(unit._session)
    assert await events(rows, database) == [
        ("fine_tuning.job.cancelled", job.id, rows.first.project_id, 2)
    ]


async def test_a_pause_is_no_end(rows: Rows, database: stack.Database) -> None:
    await an_endpoint(rows)
    job = await rows.job()
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
        await unit.jobs.mark_queued(job.id)
        assert not wrote_end(unit._session)
    assert await events(rows, database) == []


async def test_an_event_read_late_goes_to_those_who_wanted_it_when_it_happened(
    rows: Rows, database: stack.Database
) -> None:
    """Endpoints may change between an event and its reading."""
    cancelled, failed = "fine_tuning.job.cancelled", "fine_tuning.job.failed"
    before = await an_endpoint(rows, None, cancelled)
    other_type = await an_endpoint(rows, None, failed)
    disabled = await an_endpoint(rows)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE webhook_endpoints SET disabled_at = now() WHERE id = %s", (disabled,)
        )
    job = await rows.job()
    await cancel(rows, job)
    await an_endpoint(rows)
    async with rows.app.tenant(rows.first) as unit:
        both = {"event_types": [cancelled, failed]}
        await unit.webhook_endpoints.change(before, both)
        await unit.webhook_endpoints.change(other_type, both)
        await unit.webhook_endpoints.enable(disabled)
    assert await events(rows, database) == [(cancelled, job.id, rows.first.project_id, 1)]
    async with rows.app.tenant(rows.first) as unit:
        for endpoint, count in ((before, 1), (other_type, 0), (disabled, 0)):
            page, _ = await unit.webhook_endpoints.deliveries(endpoint, after=None, limit=9)
            assert len(page) == count
    later = await rows.job()
    await cancel(rows, later)
    assert (cancelled, later.id, rows.first.project_id, 4) in await events(rows, database)


async def test_events_are_forgotten_after_their_time(rows: Rows, database: stack.Database) -> None:
    await an_endpoint(rows)
    old, new = await rows.job(), await rows.job()
    for job in (old, new):
        await cancel(rows, job)
    await fan_out(rows)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE webhook_events SET created_at = now() - interval '31 days' WHERE subject = %s",
            (old.id,),
        )
    async with maintenance(rows.worker) as unit:
        assert await unit.expiry.remove_events(10, keep_s=30 * 86_400) == 1
        assert await unit.expiry.remove_events(10, keep_s=30 * 86_400) == 0
    assert [subject for _, subject, _, _ in await events(rows, database)] == [new.id]
    async with delivery_claims(rows.worker) as claiming:
        assert await claiming.leases.is_due()
