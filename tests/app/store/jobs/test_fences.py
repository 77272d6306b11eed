"""A worker that lost its lease writes nothing, and no claim interrupts an open transaction."""

import asyncio
import inspect
from functools import cached_property

import pytest
from sqlalchemy.exc import ProgrammingError

from app.jobs.claims import job_claims
from app.jobs.jobs import Job, JobError, StopRequest, Usage
from app.kit.errors import LeaseLost, WrongState
from app.kit.leases import Lease
from app.kit.transactions import Store
from tests.support.patience import PATIENCE_S
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.fenced_writes import WRITES
from tests.support.store.rows import Rows

READS = {
    "get",
    "get_for_run",
    "owner_in",
    "purposes",
    "deleted",
    "page",
    "batch",
    "after",
    "curve",
    "all",
    "existing",
    "get_many",
    "secrets",
    "lock",
    "object_keys",
    "kept",
    "needed",
    "resume_point",
    "stop_request",
    "ends",
    "packed",
    "thinned",
    "names",
    "row_means",
    "pass_counts",
    "reward_histogram",
    "trained_rows",
    "tokens",
    "links",
    "played",
    "steps",
}
FORBIDDEN = {
    "files.mark_deleted": ("file-1",),
    "files.release": (["file-1"],),
    "files.withhold": (["file-1"], "details"),
}
"""Writes to which the worker's role has no right, with any fence, and their arguments."""


async def _taken_over(rows: Rows) -> tuple[Job, Lease, Lease]:
    """A job, a claim whose lease ran out, and the newer claim that has the lease."""
    job = await rows.job()
    return job, await claimed_rows(rows, job, lease_s=-1), await claimed_rows(rows, job)


async def test_an_old_fence_writes_nothing_whatever_the_verb(rows: Rows) -> None:
    for verb, write in WRITES.items():
        job, old, new = await _taken_over(rows)
        try:
            async with run_unit(rows, old) as unit:
                await write(unit, job.id)
        except LeaseLost:
            pass
        else:
            pytest.fail(f"{verb} wrote under an old fence")
        if verb == "jobs.mark_succeeded":
            continue  # no transition of a job that does not run yet
        async with run_unit(rows, new) as unit:
            await write(unit, job.id)


async def test_no_verb_of_a_run_is_left_out(rows: Rows) -> None:
    job = await rows.job()
    async with run_unit(rows, await claimed_rows(rows, job)) as unit:
        stores = {
            name: getattr(unit, name)
            for name, made in inspect.getmembers_static(type(unit))
            if isinstance(made, Store | cached_property)
        }
    verbs = {
        f"{name}.{verb}"
        for name, store in stores.items()
        for verb, _ in inspect.getmembers(store, inspect.iscoroutinefunction)
        if not verb.startswith("_") and verb not in READS
    }
    assert verbs == {*WRITES, *FORBIDDEN}


@pytest.mark.parametrize("verb", FORBIDDEN)
async def test_a_run_has_no_right_to_what_its_tenant_decides(rows: Rows, verb: str) -> None:
    lease = await claimed_rows(rows, await rows.job())
    store, name = verb.split(".")
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with run_unit(rows, lease) as unit:
            await getattr(getattr(unit, store), name)(*FORBIDDEN[verb])


async def test_a_run_that_opens_behind_a_claim_finds_its_fence_gone(rows: Rows) -> None:
    job = await rows.job()
    old = await claimed_rows(rows, job, lease_s=-1)

    async def write() -> None:
        async with run_unit(rows, old) as unit:
            await unit.jobs.mark_failed(JobError("late", "late", None))

    async with job_claims(rows.worker) as claiming:
        await claiming.leases.claim_next("other", 30, max_attempts=3, most_held=9)
        late = asyncio.create_task(write())
        await asyncio.sleep(0.1)
        assert not late.done()
    with pytest.raises(LeaseLost):
        await late


async def test_transactions_of_one_run_follow_one_another(rows: Rows) -> None:
    """A shared lock would deadlock here, since each transaction also updates the row it locked."""
    job = await rows.job()
    claimed = await claimed_rows(rows, job)

    async def commit(step: int) -> None:
        async with run_unit(rows, claimed) as unit:
            await unit.events.append(job.id, message=str(step))
            await asyncio.sleep(0.01)
            await unit.jobs.commit_step(
                step,
                resume_key="s",
                adapter_key="a",
                usage=Usage(trained_tokens=1),
                estimated_finish=0,
            )

    async def renew() -> None:
        async with job_claims(rows.worker) as unit:
            await unit.leases.renew(claimed, 30)

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(commit(step) for step in range(1, 6)), renew(), renew())
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.jobs.get(job.id)).trained_tokens == 5


async def test_a_frozen_run_writes_nothing_after_pause_and_resume(rows: Rows) -> None:
    job = await rows.job()
    frozen = await claimed_rows(rows, job, lease_s=-1)
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.mark_queued(job.id)
    with pytest.raises(LeaseLost):
        async with run_unit(rows, frozen) as run:
            await run.jobs.mark_running()
    with pytest.raises(LeaseLost):
        async with job_claims(rows.worker) as unit:
            await unit.leases.renew(frozen, 30)
    assert (await claimed_rows(rows, job)).fence > frozen.fence


async def test_a_run_that_fails_half_way_leaves_nothing(rows: Rows) -> None:
    job = await rows.job()
    claimed = await claimed_rows(rows, job)
    with pytest.raises(WrongState):
        async with run_unit(rows, claimed) as unit:
            await unit.reports.upsert(job.id, {"a": 1})
            await unit.jobs.mark_succeeded("ft:x")
    async with rows.app.tenant(rows.first) as unit:
        assert await unit.reports.get(job.id) is None
