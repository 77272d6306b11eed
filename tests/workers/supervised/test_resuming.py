"""Kills, pauses and cancels of supervised and preference jobs."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.jobs.jobs import Job, JobStatus, StopRequest
from app.domain.jobs.usage import Caps
from tests.support.supervised.runs import SupervisedRuns, chat_row, pair_row
from workers.methods import job_run

CHATS = ([chat_row(n) for n in range(12)], [chat_row(n) for n in range(20, 30)])
PAIRS = ([pair_row(n) for n in range(12)], [pair_row(n) for n in range(50, 60)])
FAST = {"n_epochs": 2, "batch_size": 3, "learning_rate_multiplier": 3}


async def _weights(runs: SupervisedRuns, job: Job) -> bytes:
    return (await runs.published(job) / "adapter_model.safetensors").read_bytes()


@pytest.mark.parametrize(("kind", "rows"), [("supervised", CHATS), ("dpo", PAIRS)])
async def test_a_run_that_is_killed_and_paused_ends_with_the_same_bytes(
    runs: SupervisedRuns, kind: str, rows: tuple[Any, Any]
) -> None:
    whole = await runs.run(await runs.job(kind, *rows, hyperparameters=FAST))
    assert whole.status is JobStatus.SUCCEEDED, whole.error

    job = await runs.job(kind, *rows, hyperparameters=FAST)
    await runs.killed_at(job, 2)
    await runs.killed_at(job, 5)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
    assert (await runs.world.read(job)).status is JobStatus.PAUSED
    await runs.read.resume(job)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert await _weights(runs, ended) == await _weights(runs, whole)
    for name, split in (("train/loss", "train"), ("train/loss", "valid"), ("batch/loss", "valid")):
        assert await runs.read.curve(job, name, split) == await runs.read.curve(whole, name, split)
    assert ended.trained_tokens == whole.trained_tokens, "no step counted twice"
    messages = [event.message for event in await runs.read.events(job)]
    steps = [message.split(":")[0] for message in messages if message.startswith("Step ")]
    assert steps == [f"Step {n}/8" for n in range(1, 9)]
    assert sum(message.startswith("Before training") for message in messages) == 1
    ours, theirs = await runs.read.report(job), await runs.read.report(whole)
    assert {**ours, "job_id": ""} == {**theirs, "job_id": ""}


async def test_a_base_models_new_settings_are_for_new_jobs(runs: SupervisedRuns) -> None:
    whole = await runs.run(await runs.job("supervised", *CHATS, hyperparameters=FAST))
    job = await runs.job("supervised", *CHATS, hyperparameters=FAST)
    await runs.killed_at(job, 2)
    changed = {"learning_rate": 0.5, "lora_rank": 4, "lora_alpha": 32.0}
    ended = await runs.run(job, spec=runs.engine.spec.model_copy(update=changed))
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert await _weights(runs, ended) == await _weights(runs, whole)


async def test_a_cancelled_run_writes_nothing_more(runs: SupervisedRuns) -> None:
    job = await runs.job("supervised", *CHATS, hyperparameters=FAST)
    await runs.killed_at(job, 2)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.CANCEL)
    assert await runs.world.claim(job, lease_s=-1.0) is None
    found = await runs.world.read(job)
    assert (found.status, found.step) == (JobStatus.CANCELLED, 2)


async def test_a_time_cap_pauses_between_steps(runs: SupervisedRuns) -> None:
    job = await runs.job("supervised", *CHATS, hyperparameters=FAST)
    async with runs.context(job) as context:
        caps = Caps(max_training_time_s=0.01)
        await job_run(replace(context, job=replace(context.job, caps=caps))).run()
    found = await runs.world.read(job)
    assert found.status is JobStatus.PAUSED
    assert found.step <= 1
    assert any("max_training_time_s" in message for message in await runs.world.messages(job))
