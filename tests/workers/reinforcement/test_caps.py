"""A cap of rollouts in the async mode: nothing is begun for a step that will not be."""

from dataclasses import replace

import pytest

from app.jobs.jobs import Caps, Job, JobStatus
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import RealRuns, Script
from workers.job_child import job_run
from workers.runs.reporter import Reporter

BASELINE, STEP = 10, 10
"""Rollouts of each; the next validation is after the last step."""


async def _job(runs: RealRuns) -> Job:
    return await runs.job(
        mode={"type": "async", "max_staleness": 2},
        hyperparameters={"n_epochs": 4, "eval_interval": 9},
    )


async def _run(runs: RealRuns, job: Job, script: Script, cap: int) -> Job:
    async with runs.context(job, script) as context:
        capped = replace(context.job, caps=Caps(max_rollouts=cap))
        await job_run(replace(context, job=capped)).run()
    return await runs.world.read(job)


@pytest.mark.parametrize("cap", [BASELINE + STEP, BASELINE + 1])
async def test_no_rollout_is_begun_ahead_of_a_step_that_the_cap_forbids(
    runs: RealRuns, cap: int
) -> None:
    job, script = await _job(runs), Script()
    paused = await _run(runs, job, script, cap)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    assert script.asked == {"train": STEP, "valid": BASELINE}


async def test_steps_that_the_cap_lets_begin_are_all_trained(runs: RealRuns) -> None:
    job, script = await _job(runs), Script()
    paused = await _run(runs, job, script, BASELINE + 2 * STEP + 1)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 3)
    assert script.asked == {"train": 3 * STEP, "valid": BASELINE}


async def test_a_claim_that_is_to_pause_at_once_begins_nothing(runs: RealRuns) -> None:
    job = await _job(runs)

    def has_committed_a_step(reporter: Reporter) -> bool:
        return reporter.usage is not None and reporter.usage.rollouts > BASELINE

    async with runs.context(job, Script()) as context:
        with pytest.raises(RunKilled):
            await interrupted_run(context, before_step=has_committed_a_step).run()
    script = Script()
    paused = await _run(runs, job, script, BASELINE + STEP)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    assert script.asked == {"train": 0, "valid": 0}


async def test_a_long_baseline_says_how_far_it_is(runs: RealRuns) -> None:
    rows = [{"messages": [{"role": "user", "content": f"part P{n}?"}]} for n in range(27)]
    runs = replace(runs, rows=rows)
    job = await _job(runs)
    assert (await _run(runs, job, Script(), 1)).status is JobStatus.PAUSED
    said = [one.message for one in await runs.events(job) if one.message.startswith("Measuring")]
    assert said == ["Measuring the model before training: 25 of 27 rows."]
