"""A claim crashes between a step's validation and its commit: what the next one asks anew."""

from dataclasses import replace
from typing import Any

import pytest
from typing_extensions import override

from app.jobs.jobs import Job, JobStatus
from app.models.engine import Completion
from app.models.engine_http import HttpInference
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import ROWS, RealRuns, Script
from workers.job_child import job_run


class Counting(HttpInference):
    """Counts the requests for samples; a probe is none."""

    sampled = 0

    @override
    async def complete(self, model: str, prompt_token_ids: list[int], **options: Any) -> Completion:
        self.sampled += not options.get("prompt_logprobs", False)
        return await super().complete(model, prompt_token_ids, **options)


async def _killed_after_validation(runs: RealRuns, job: Job) -> None:
    async with runs.context(job, Script()) as context:
        with pytest.raises(RunKilled):
            await interrupted_run(context, at_commit=True).run()


async def _sampled_by_next_claim(runs: RealRuns, job: Job, *, rate: float) -> int:
    async with runs.context(job, Script()) as context:
        counting = Counting(runs.engine.url)
        base = context.base_model.model_copy(update={"learning_rate": rate})
        try:
            await job_run(replace(context, inference=counting, base_model=base)).run()
        finally:
            await counting.aclose()
    assert (await runs.world.read(job)).status is JobStatus.SUCCEEDED
    return counting.sampled


async def test_the_same_adapter_made_again_replays_its_turns(runs: RealRuns) -> None:
    job = await runs.job(hyperparameters={"batch_size": ROWS})
    await _killed_after_validation(runs, job)
    rate = runs.engine.spec.learning_rate
    assert await _sampled_by_next_claim(runs, job, rate=rate) == 2 * ROWS, "for the report"


async def test_another_adapter_of_the_same_step_is_validated_itself(runs: RealRuns) -> None:
    """As a step of `async`, or of a GPU, may come out otherwise when it is trained again."""
    job = await runs.job(hyperparameters={"batch_size": ROWS})
    await _killed_after_validation(runs, job)
    rate = 2 * runs.engine.spec.learning_rate
    assert await _sampled_by_next_claim(runs, job, rate=rate) == ROWS + 2 * ROWS
