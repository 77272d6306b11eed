import pytest

from app.jobs.claims import job_claims
from app.jobs.jobs import JobError, JobStatus, StopRequest, Usage
from app.kit.errors import LeaseLost, WrongState
from tests.support.store.claims import claim, claimed_rows, run_unit
from tests.support.store.rows import Rows


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
