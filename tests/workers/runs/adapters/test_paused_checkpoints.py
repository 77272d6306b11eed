"""A paused job can be tried as it is: its last step is a checkpoint, validated or not."""

from dataclasses import replace

from app.jobs.jobs import Caps, Job, JobStatus
from tests.support.runs.real_run import RealRuns, Script
from workers.job_child import job_run

BASELINE, STEP = 10, 10
"""Rollouts of each; the first validation after the baseline is that of step 3."""


async def _run(runs: RealRuns, job: Job, cap: int) -> Job:
    async with runs.context(job, Script()) as context:
        capped = replace(context.job, caps=Caps(max_rollouts=cap))
        await job_run(replace(context, job=capped)).run()
    return await runs.world.read(job)


async def test_the_last_step_of_a_paused_job_is_a_checkpoint(runs: RealRuns) -> None:
    job = await runs.job(
        hyperparameters={"n_epochs": 2, "eval_interval": 3}, keep_checkpoints={"last": 0}
    )
    for _ in range(2):  # the second claim pauses at once
        paused = await _run(runs, job, BASELINE + 2 * STEP)
        assert (paused.status, paused.step) == (JobStatus.PAUSED, 2)
        made = await runs.checkpoints(job)
        assert [(one.step, one.metrics) for one in made] == [(2, {})]
        await runs.resume(job)
    [checkpoint] = await runs.checkpoints(job)
    said = [one.message for one in await runs.events(job) if "can be tried" in one.message]
    assert said == [f"The last step can be tried as {checkpoint.model_name}"]
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        model = await unit.models.get(checkpoint.model_name)
    assert model is not None
    stored = runs.world.settings.objects_dir / model.object_key / "adapter_model.safetensors"
    assert stored.read_bytes() == runs.adapters(job)[2]

    ended = await _run(runs, job, 10_000)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 4)
    assert 2 not in [one.step for one in await runs.checkpoints(job)], "validated ones replace it"


async def test_a_job_that_trained_nothing_has_no_checkpoint(runs: RealRuns) -> None:
    job = await runs.job(
        hyperparameters={"n_epochs": 2, "eval_interval": 3}, nothing_to_learn={"action": "off"}
    )
    async with runs.context(job, Script(train=lambda _: 0.5)) as context:
        capped = replace(context.job, caps=Caps(max_rollouts=BASELINE + STEP))
        await job_run(replace(context, job=capped)).run()
    assert (await runs.world.read(job)).status is JobStatus.PAUSED
    assert await runs.checkpoints(job) == []
