"""Whoever lost a job writes nothing, and nobody takes a job from under an open transaction."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.domain.data.files import FileRow
from app.domain.errors import LeaseLost, WrongState
from app.domain.jobs.jobs import Checkpoint, Job, JobError, StopRequest
from app.domain.jobs.usage import Usage
from app.domain.models.tuned_models import TunedModel
from app.domain.rollouts.metrics import MetricPoint
from app.store.jobs.claims import ClaimedJob, system
from app.store.unit_of_work import RunUnitOfWork
from tests.app.store.conftest import Rows
from tests.app.store.test_claims import claim, held, run_unit
from tests.app.store.test_rows import a_rollout

Verb = Callable[[RunUnitOfWork, str], Awaitable[Any]]


def a_checkpoint(job_id: str, step: int = 1) -> Checkpoint:
    return Checkpoint(f"ftckpt_{job_id}", job_id, step, 0, f"ft:x:step-{step}", {"reward": 0.5})


def a_model(job_id: str) -> TunedModel:
    return TunedModel(f"ft:{job_id}", "", job_id, "tiny", f"model-{job_id}", "adapters/1", 1, 0)


def a_file(job_id: str) -> FileRow:
    purpose, key = "fine-tune-results", f"files/{job_id}"
    return FileRow(f"file-{job_id}", "", "m.csv", purpose, 1, "0", key, "processed", None, 0, None)


WRITES: dict[str, Verb] = {
    "jobs.mark_validated": lambda unit, _: unit.jobs.mark_validated(9, {}),
    "jobs.note_kept": lambda unit, _: unit.jobs.note_kept([1]),
    "jobs.note_early_end": lambda unit, _: unit.jobs.note_early_end({"rule": "plateau"}),
    "jobs.mark_running": lambda unit, _: unit.jobs.mark_running(),
    "jobs.mark_succeeded": lambda unit, _: unit.jobs.mark_succeeded("ft:x"),
    "jobs.mark_failed": lambda unit, _: unit.jobs.mark_failed(JobError("a", "b", None)),
    "jobs.mark_paused": lambda unit, _: unit.jobs.mark_paused(),
    "jobs.commit_step": lambda unit, _: unit.jobs.commit_step(
        1, resume_key="s", adapter_key="a", usage=Usage(trained_tokens=1), estimated_finish=0
    ),
    "jobs.add_usage": lambda unit, _: unit.jobs.add_usage(Usage(rollouts=1)),
    "events.append": lambda unit, job: unit.events.append(
        job, level="info", type="message", message="m"
    ),
    "metrics.upsert": lambda unit, job: unit.metrics.upsert(
        job, [MetricPoint("a", "train", 1, 1.0)]
    ),
    "checkpoints.insert": lambda unit, job: unit.checkpoints.insert(
        a_checkpoint(job), object_key="k"
    ),
    "models.insert": lambda unit, job: unit.models.insert(a_model(job)),
    "rollouts.insert_many": lambda unit, job: unit.rollouts.insert_many(job, [a_rollout(job, 0)]),
    "files.insert": lambda unit, job: unit.files.insert(a_file(job)),
    "reports.upsert": lambda unit, job: unit.reports.upsert(job, {"a": 1}),
    "journal.put_many": lambda unit, job: unit.journal.put_many(job, 1, [("k", "s", {})]),
    "journal.forget": lambda unit, job: unit.journal.forget(job, 1),
    "journal.forget_all": lambda unit, job: unit.journal.forget_all(job),
}
READS = {
    "get",
    "get_for_run",
    "owner_in",
    "purposes",
    "page",
    "curve",
    "all",
    "get_many",
    "secrets",
    "object_keys",
    "kept",
    "needed",
    "resume_point",
    "stop_request",
}
# What the worker's role has no right to, whatever the fence.
FORBIDDEN = {"files.mark_deleted", "models.mark_deleted"}


async def _taken_over(rows: Rows) -> tuple[Job, ClaimedJob, ClaimedJob]:
    """A job, the claim whose lease ran out, and the claim that holds it now."""
    job = await rows.job()
    return job, await held(rows, job, lease_s=-1), await held(rows, job)


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
    async with run_unit(rows, await held(rows, job)) as unit:
        stores = {name: store for name, store in vars(unit).items() if not name.startswith("_")}
    verbs = {
        f"{name}.{verb}"
        for name, store in stores.items()
        for verb, _ in inspect.getmembers(store, inspect.iscoroutinefunction)
        if not verb.startswith("_") and verb not in READS
    }
    assert verbs == {*WRITES, *FORBIDDEN}


async def test_a_claim_waits_for_the_transaction_of_the_run_it_takes_over(rows: Rows) -> None:
    job = await rows.job()
    old = await held(rows, job, lease_s=-1)
    async with run_unit(rows, old) as unit:
        await unit.journal.put_many(job.id, 1, [("k", "s", {"v": 1})])
        taking = asyncio.create_task(claim(rows, job))
        await asyncio.sleep(0.1)
        assert not taking.done()
    new = await taking
    assert new is not None
    assert new.fence == 2
    async with run_unit(rows, new) as unit:
        assert await unit.journal.get_many(job.id, 1) == {"k": ("s", {"v": 1})}


async def test_a_run_that_opens_behind_a_claim_finds_its_fence_gone(rows: Rows) -> None:
    job = await rows.job()
    old = await held(rows, job, lease_s=-1)

    async def write() -> None:
        async with run_unit(rows, old) as unit:
            await unit.jobs.mark_failed(JobError("late", "late", None))

    async with system(rows.worker) as claiming:
        await claiming.jobs.claim(job.id, "other", 30, max_attempts=3)
        late = asyncio.create_task(write())
        await asyncio.sleep(0.1)
        assert not late.done()
    with pytest.raises(LeaseLost):
        await late


async def test_transactions_of_one_run_follow_one_another(rows: Rows) -> None:
    """A shared lock would deadlock here, since each of them also updates the row it locked."""
    job = await rows.job()
    claimed = await held(rows, job)

    async def commit(step: int) -> None:
        async with run_unit(rows, claimed) as unit:
            await unit.events.append(job.id, level="info", type="message", message=str(step))
            await asyncio.sleep(0.01)
            await unit.jobs.commit_step(
                step,
                resume_key="s",
                adapter_key="a",
                usage=Usage(trained_tokens=1),
                estimated_finish=0,
            )

    async def renew() -> None:
        async with system(rows.worker) as unit:
            await unit.jobs.renew(job.id, claimed.fence, 30)

    async with asyncio.timeout(5):
        await asyncio.gather(*(commit(step) for step in range(1, 6)), renew(), renew())
    async with rows.app.tenant(rows.first) as unit:
        assert (await unit.jobs.get(job.id)).trained_tokens == 5


async def test_a_frozen_run_writes_nothing_after_pause_and_resume(rows: Rows) -> None:
    job = await rows.job()
    frozen = await held(rows, job, lease_s=-1)
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.mark_queued(job.id)
    with pytest.raises(LeaseLost):
        async with run_unit(rows, frozen) as run:
            await run.jobs.mark_running()
    with pytest.raises(LeaseLost):
        async with system(rows.worker) as unit:
            await unit.jobs.renew(job.id, frozen.fence, 30)
    assert (await held(rows, job)).fence > frozen.fence


async def test_a_run_that_fails_half_way_leaves_nothing(rows: Rows) -> None:
    job = await rows.job()
    claimed = await held(rows, job)
    with pytest.raises(WrongState):
        async with run_unit(rows, claimed) as unit:
            await unit.reports.upsert(job.id, {"a": 1})
            await unit.jobs.mark_succeeded("ft:x")
    async with rows.app.tenant(rows.first) as unit:
        assert await unit.reports.get(job.id) is None
