import asyncio

import pytest

from app.jobs.claims import job_claims
from app.jobs.jobs import JobError, JobStatus, StopRequest, Usage
from app.kit.errors import LeaseLost, WrongState
from tests.support.store.claims import LEASE_S, claim, claimed_rows, run_unit
from tests.support.store.new_jobs import CREATED
from tests.support.store.rows import Rows


async def test_of_many_claimers_one_gets_the_job(rows: Rows) -> None:
    job = await rows.job()
    claims = await asyncio.gather(*(claim(rows, job) for _ in range(8)))
    won = [claimed for claimed in claims if claimed is not None]
    assert [(c.fence, c.attempts, c.project_id) for c in won] == [(1, 1, job.project_id)]


async def test_an_expired_lease_is_claimed_with_a_higher_fence(rows: Rows) -> None:
    job = await rows.job()
    old = await claimed_rows(rows, job, lease_s=-1)
    new = await claimed_rows(rows, job)
    assert (old.fence, new.fence) == (1, 2)
    async with job_claims(rows.worker) as unit:
        with pytest.raises(LeaseLost):
            await unit.leases.renew(old, LEASE_S)
        await unit.leases.renew(new, LEASE_S)


async def test_a_cancel_takes_the_fence_away(rows: Rows) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)
    async with rows.app.tenant(rows.first) as unit:
        cancelled = await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
    assert cancelled.status is JobStatus.CANCELLED
    with pytest.raises(LeaseLost):
        async with run_unit(rows, claimed) as run:
            await run.jobs.mark_running()
    async with rows.app.tenant(rows.first) as unit:
        with pytest.raises(WrongState):
            await unit.jobs.request_stop(job.id, StopRequest.CANCEL)


async def test_a_pause_is_requested_and_carried_out(rows: Rows) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)
    async with run_unit(rows, claimed) as run:
        await run.jobs.mark_validated(10, job.method)
        await run.jobs.mark_running()
    async with rows.app.tenant(rows.first) as unit:
        asked = await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
    assert asked.status is JobStatus.PAUSING
    async with run_unit(rows, claimed) as run:
        assert await run.jobs.stop_request() is StopRequest.PAUSE
        await run.jobs.mark_paused()
    assert await claim(rows, job) is None
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.mark_queued(job.id)
    assert (await claimed_rows(rows, job)).fence == 2


async def test_attempts_run_out_and_progress_resets_them(rows: Rows) -> None:
    job = await rows.job()
    await claimed_rows(rows, job, lease_s=-1)
    claimed = await claimed_rows(rows, job, lease_s=-1)
    async with run_unit(rows, claimed) as run:
        await run.jobs.commit_step(
            1, resume_key="s", adapter_key="a", usage=Usage(trained_tokens=7), estimated_finish=0
        )
    for _ in range(3):
        await claimed_rows(rows, job, lease_s=-1)
    assert await claim(rows, job) is None
    async with job_claims(rows.worker) as unit:
        (lost,) = await unit.leases.exhausted(3)
        await unit.leases.fail(lost, "died too often")
    async with rows.app.tenant(rows.first) as unit:
        failed = await unit.jobs.get(job.id)
        events, _ = await unit.events.page(job.id, after=None, limit=5)
    assert (failed.status, failed.error) == (
        JobStatus.FAILED,
        JobError("worker_lost", "died too often", None),
    )
    assert (failed.step, failed.trained_tokens) == (1, 7)
    assert [event.level for event in events] == ["error", "info"]


async def test_each_tenant_gets_the_event_of_its_own_exhausted_job(rows: Rows) -> None:
    jobs = [await rows.job(rows.first), await rows.job(rows.second)]
    for job in jobs * 3:
        await claimed_rows(rows, job, lease_s=-1)
    async with job_claims(rows.worker) as unit:
        for lost in await unit.leases.exhausted(3):
            await unit.leases.fail(lost, f"lost {lost.id}")
    for tenant, job in zip((rows.first, rows.second), jobs, strict=True):
        async with rows.app.tenant(tenant) as unit:
            events, _ = await unit.events.page(job.id, after=None, limit=5)
            assert (await unit.jobs.get(job.id)).status is JobStatus.FAILED
        assert [event.message for event in events] == [f"lost {job.id}", CREATED]


async def test_the_sweep_wakes_each_waiting_job_once(rows: Rows) -> None:
    first, second = await rows.job(), await rows.job(rows.second)
    async with job_claims(rows.worker) as unit:
        assert set(await unit.leases.due(10, 30)) == {first.id, second.id}
    async with job_claims(rows.worker) as unit:
        assert await unit.leases.due(10, 30) == []
        assert set(await unit.leases.due(10, -1)) == {first.id, second.id}
    await claimed_rows(rows, first)
    await claimed_rows(rows, second, lease_s=0.05)
    await asyncio.sleep(0.1)
    async with job_claims(rows.worker) as unit:
        assert await unit.leases.due(10, 30) == [second.id]


async def test_a_released_job_is_claimed_at_once(rows: Rows) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)
    assert await claim(rows, job) is None
    async with job_claims(rows.worker) as unit:
        await unit.leases.release(claimed, orderly=False, back_off=True)
    assert (await claimed_rows(rows, job)).fence == 2
