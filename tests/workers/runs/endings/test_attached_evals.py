"""Evals that are attached to a job: the runs that its end starts."""

from dataclasses import replace
from typing import Any

import pytest

from app.evals.evals import Eval, EvalRun, EvalRunStatus
from app.jobs.jobs import AttachedEval, Job, JobStatus
from app.kit.errors import LeaseLost
from app.kit.ids import new_id
from tests.support.runs.real_run import RealRuns, Script
from tests.support.runs.world import World
from tests.support.store.new_jobs import insert_job
from workers.job_child import job_run
from workers.runs import job as runs_of_jobs
from workers.runs.job import write_result_file

SOURCE: dict[str, Any] = {
    "type": "completions",
    "source": {"type": "file_id", "id": "file-items"},
    "input_messages": {"type": "item_reference", "item_reference": "item.prompt"},
    "sampling_params": {"temperature": 0, "seed": 3},
}


async def made_eval(world: World) -> AttachedEval:
    of = Eval(id=new_id("eval_"), name="e", data_source_config={}, testing_criteria=[{"type": "x"}])
    async with world.app.tenant(world.tenant) as unit:
        await unit.evals.insert(of)
    return AttachedEval(of.id, SOURCE)


async def job_with(runs: RealRuns, *attached: AttachedEval, **method: Any) -> Job:
    job = replace(await runs.job(**method), id=new_id("ftjob-"), evals=list(attached))
    await insert_job(runs.world.app, runs.world.tenant, job)
    return job


async def runs_of(world: World, eval_id: str) -> dict[str, EvalRun]:
    """Returns the runs of an eval by their ids."""
    async with world.app.tenant(world.tenant) as unit:
        found, _ = await unit.eval_runs.page(
            eval_id, status=None, after=None, limit=100, descending=False
        )
    return {run.id: run for run in found}


async def test_a_job_that_succeeds_queues_a_run_of_each_model_for_each_eval(runs: RealRuns) -> None:
    evals = [await made_eval(runs.world) for _ in range(2)]
    ended = await runs.run(await job_with(runs, *evals))
    assert (ended.status, ended.error) == (JobStatus.SUCCEEDED, None)
    assert [(each.eval_id, each.data_source, each.error) for each in ended.evals] == [
        (each.eval_id, SOURCE, None) for each in evals
    ]
    for each in ended.evals:
        found = await runs_of(runs.world, each.eval_id)
        assert set(found) == {each.start_run_id, each.tuned_run_id}
        for side, run_id, model in (
            ("start", each.start_run_id, ended.model),
            ("tuned", each.tuned_run_id, ended.fine_tuned_model),
        ):
            run = found[str(run_id)]
            assert (run.status, run.model) == (EvalRunStatus.QUEUED, model)
            assert run.name == f"{ended.id}: {side}"
            assert run.data_source == {**SOURCE, "model": model}
            assert run.metadata == {"job_id": ended.id, "model": side}


async def test_an_eval_that_was_deleted_meanwhile_costs_the_job_nothing(runs: RealRuns) -> None:
    gone, kept = await made_eval(runs.world), await made_eval(runs.world)
    job = await job_with(runs, gone, kept)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        await unit.evals.delete(gone.eval_id)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED
    reason = f"Eval {gone.eval_id} was deleted before the job succeeded, so it has no runs."
    first, second = ended.evals
    assert (first.start_run_id, first.tuned_run_id, first.error) == (None, None, reason)
    assert second.error is None
    assert set(await runs_of(runs.world, kept.eval_id)) == {
        second.start_run_id,
        second.tuned_run_id,
    }
    [warned] = [one for one in await runs.events(job) if one.message == reason]
    assert (warned.level, warned.type, warned.data) == ("warn", "message", {"eval": gone.eval_id})


async def test_a_job_that_fails_starts_no_run(runs: RealRuns) -> None:
    attached = await made_eval(runs.world)
    ended = await runs.run(await job_with(runs, attached), Script(train=lambda _: 0.5))
    assert ended.status is JobStatus.FAILED
    assert ended.evals == [attached]
    assert await runs_of(runs.world, attached.eval_id) == {}


async def test_a_run_that_is_taken_over_at_its_end_starts_them_once(
    runs: RealRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = await made_eval(runs.world)
    job = await job_with(runs, attached)

    async def taken_over(*args: Any) -> Any:
        await runs.world.claim_when_free(job, lease_s=-1.0)
        return await write_result_file(*args)

    with monkeypatch.context() as patched:
        patched.setattr(runs_of_jobs, "write_result_file", taken_over)
        async with runs.context(job, Script()) as context:
            with pytest.raises(LeaseLost):
                await job_run(context).run()
    assert (await runs.world.read(job)).evals == [attached]
    assert await runs_of(runs.world, attached.eval_id) == {}

    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED
    [each] = ended.evals
    assert set(await runs_of(runs.world, attached.eval_id)) == {
        each.start_run_id,
        each.tuned_run_id,
    }
