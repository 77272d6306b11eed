"""Checkpoints whose models are in use by running work."""

from dataclasses import replace
from typing import Any

from app.evals.evals import Eval, EvalRun, EvalRunStatus
from app.jobs.jobs import Checkpoint, Job, StopRequest
from app.jobs.methods import StoredReinforcementMethod
from app.kit.ids import new_id
from app.kit.leases import Lease
from app.models.models import TunedModel
from tests.support.store.claims import claimed_rows, run_unit
from tests.support.store.new_jobs import insert_job_in
from tests.support.store.rows import Rows, a_job


def _graded_by(grader: dict[str, Any]) -> StoredReinforcementMethod:
    return StoredReinforcementMethod({"type": "reinforcement", "reinforcement": {"grader": grader}})


async def with_checkpoints(rows: Rows, job: Job) -> dict[int, str]:
    """Inserts checkpoints for steps 1 to 3, with the names of their models."""
    names = {step: f"ft:t:o::b:ckpt-step-{step}" for step in (1, 2, 3)}
    async with run_unit(rows, await claimed_rows(rows, job)) as run:
        for step, name in names.items():
            row = Checkpoint(f"ftckpt_b{step}", job.id, step, 0, name, {})
            await run.checkpoints.insert(row, object_key=f"k{step}")
            await run.models.insert(
                TunedModel(name, "", job.id, "tiny", f"model-b{step}", f"k{step}", step, 0)
            )
        assert await run.checkpoints.needed(job.id) == frozenset()
    return names


async def needed_by_the_run(rows: Rows, job: Job) -> frozenset[int]:
    """As the worker's role sees it."""
    async with run_unit(rows, Lease(job.id, job.project_id, 1, 1)) as run:
        return await run.checkpoints.needed(job.id)


async def test_a_checkpoint_that_grades_an_unfinished_job_is_needed(rows: Rows) -> None:
    job = await rows.job()
    names = await with_checkpoints(rows, job)
    judge = {"type": "score_model", "name": "j", "model": names[2]}
    multi = {"type": "multi", "graders": {"a": {"type": "string_check"}, "b": judge}}
    child = replace(a_job(rows.first), method=_graded_by(multi))
    prompt = {**judge, "model": "other", "input": [{"role": "user", "content": names[1]}]}
    other = replace(a_job(rows.first), method=_graded_by(prompt))
    async with rows.app.tenant(rows.first) as unit:
        await insert_job_in(unit, child)
        await insert_job_in(unit, other)
    assert await needed_by_the_run(rows, job) == {2}
    async with rows.app.tenant(rows.first) as unit:
        await unit.jobs.request_stop(child.id, StopRequest.CANCEL)
    assert await needed_by_the_run(rows, job) == frozenset()


async def test_a_checkpoint_that_a_running_eval_samples_or_is_graded_by_is_needed(
    rows: Rows,
) -> None:
    job = await rows.job()
    names = await with_checkpoints(rows, job)
    judge = {"type": "score_model", "name": "j", "model": names[1]}
    graded = Eval(id=new_id("eval_"), name="e", data_source_config={}, testing_criteria=[judge])
    run = EvalRun(
        id=new_id("evalrun_"),
        eval_id=graded.id,
        name="r",
        status=EvalRunStatus.QUEUED,
        model=names[3],
        data_source={"type": "completions"},
    )
    async with rows.app.tenant(rows.first) as unit:
        await unit.evals.insert(graded)
    assert await needed_by_the_run(rows, job) == frozenset(), "it does not run"
    async with rows.app.tenant(rows.first) as unit:
        await unit.eval_runs.insert(run)
    assert await needed_by_the_run(rows, job) == {1, 3}
    async with rows.app.tenant(rows.first) as unit:
        await unit.eval_runs.cancel(graded.id, run.id)
    assert await needed_by_the_run(rows, job) == frozenset()


async def test_a_checkpoint_that_is_shared_or_trained_from_is_needed(rows: Rows) -> None:
    job = await rows.job()
    names = await with_checkpoints(rows, job)
    child = replace(a_job(rows.first), model=names[3])
    async with rows.app.tenant(rows.first) as unit:
        await unit.permissions.grant(
            names[1], [rows.first.project_id], organization_id=rows.first.organization_id
        )
        await insert_job_in(unit, child)
        assert await unit.checkpoints.needed(job.id) == {1, 3}
        await unit.jobs.request_stop(child.id, StopRequest.CANCEL)
        assert await unit.checkpoints.needed(job.id) == {1}
