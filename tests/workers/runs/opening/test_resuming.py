"""A job continues as it was begun, whatever the operator has set since."""

from dataclasses import replace

from app.jobs.jobs import JobStatus
from tests.support.runs.real_run import RealRuns, Script
from workers.job_child import job_run

PAUSE = {"max_steps": {"steps": 1, "action": "pause"}}


async def test_a_base_models_new_settings_are_for_new_jobs(runs: RealRuns) -> None:
    whole, job = await runs.job(stop=PAUSE), await runs.job(stop=PAUSE)
    for paused in (whole, job):
        assert (await runs.run(paused)).status is JobStatus.PAUSED
        await runs.resume(paused)
    assert (await runs.run(whole)).status is JobStatus.SUCCEEDED
    async with runs.context(job, Script()) as context:
        base = context.base_model.model_copy(
            update={"learning_rate": 0.5, "lora_rank": 4, "lora_alpha": 32.0}
        )
        await job_run(replace(context, base_model=base)).run()
    ended = await runs.world.read(job)
    assert (ended.status, ended.step, ended.error) == (JobStatus.SUCCEEDED, 2, None)
    assert runs.adapters(job) == runs.adapters(whole)
    rates = await runs.curve(job, "train/learning_rate")
    assert rates == {1: runs.engine.spec.learning_rate, 2: runs.engine.spec.learning_rate}
