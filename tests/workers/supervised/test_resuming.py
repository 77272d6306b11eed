"""Kills, pauses and cancels of supervised and preference jobs."""

import json
from dataclasses import replace
from typing import Any

import pytest

from app.jobs.jobs import Caps, Job, JobStatus, StopRequest
from app.settings import ComputeSettings
from tests.support.supervised.runs import SupervisedRuns, chat_row, pair_row
from workers.compute import describe_processor
from workers.job_child import job_run
from workers.learning.trainer import TrainerSettings
from workers.methods.supervised.training import SaveSchedule
from workers.runs.publisher import Publisher
from workers.runs.step_outcome import PublishedAdapter, TrainedStep

CHATS = ([chat_row(n) for n in range(12)], [chat_row(n) for n in range(20, 30)])
PAIRS = ([pair_row(n) for n in range(12)], [pair_row(n) for n in range(50, 60)])
FAST = {"n_epochs": 2, "batch_size": 3, "learning_rate_multiplier": 3}


async def _weights(runs: SupervisedRuns, job: Job) -> bytes:
    return (await runs.published(job) / "adapter_model.safetensors").read_bytes()


@pytest.mark.parametrize(("kind", "rows"), [("supervised", CHATS), ("dpo", PAIRS)])
async def test_a_run_that_is_killed_and_paused_ends_with_the_same_bytes(
    runs: SupervisedRuns, kind: str, rows: tuple[Any, Any]
) -> None:
    """The base model's new settings are for new jobs."""
    whole = await runs.run(await runs.job(kind, *rows, hyperparameters=FAST))
    assert whole.status is JobStatus.SUCCEEDED, whole.error

    job = await runs.job(kind, *rows, hyperparameters=FAST)
    await runs.killed_at(job, 2)
    await runs.killed_at(job, 5)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        await unit.jobs.request_stop(job.id, StopRequest.PAUSE)
    assert (await runs.world.read(job)).status is JobStatus.PAUSED
    await runs.read.resume(job)
    changed = {"learning_rate": 0.5, "lora_rank": 4, "lora_alpha": 32.0}
    ended = await runs.run(job, spec=runs.engine.spec.model_copy(update=changed))
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


async def test_a_resumed_run_computes_as_it_began_on_a_machine_that_would_choose_otherwise(
    runs: SupervisedRuns,
) -> None:
    """The way to compute is part of what a resume compares; a state that was saved without it
    counts as the same.
    """
    forced = ComputeSettings(measure=False, trainer_products="torch", trainer_threads=2)
    began = replace(runs, compute=forced)
    whole = await began.run(await runs.job("supervised", *CHATS, hyperparameters=FAST))
    job = await runs.job("supervised", *CHATS, hyperparameters=FAST)
    await began.killed_at(job, 2)
    (state,) = runs.world.settings.objects_dir.rglob(f"{job.id}/step-000002-*/state/trainer.json")
    settings = json.loads(state.read_text())["settings"]
    assert settings["computes"] == {"products": "torch", "threads": 2}
    current = TrainerSettings(**settings)
    assert current.differences({**settings, "computes": None}) == []
    other = {**settings, "computes": {"products": "torch", "threads": 1}}
    assert current.differences(other) == ["computes"]
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert await _weights(runs, ended) == await _weights(runs, whole)
    machine = describe_processor()
    assert ended.reproducibility == {
        "same_to_the_bit": True,
        "reasons": [],
        "processors": [f"trainer: {machine}, torch products, 2 threads"],
    }


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


class SlowSaves:
    """Lets each save seem to last for an hour, and records the steps that were saved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[int] = []
        save = Publisher.save
        noted = SaveSchedule.saved

        async def recorded(publisher: Publisher, trained: TrainedStep) -> PublishedAdapter:
            self.steps.append(trained.step)
            return await save(publisher, trained)

        monkeypatch.setattr(Publisher, "save", recorded)
        monkeypatch.setattr(SaveSchedule, "saved", lambda schedule, _: noted(schedule, 3600.0))


async def test_state_that_takes_long_to_save_is_saved_rarely_and_nothing_is_lost(
    runs: SupervisedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight steps in two epochs: saved are the first step, the one before a pause, and the ends of
    the epochs.
    """
    whole = await runs.run(await runs.job("supervised", *CHATS, hyperparameters=FAST))
    saves, rare = SlowSaves(monkeypatch), replace(runs, save_share=0.05)
    stop = {"max_steps": {"steps": 3, "action": "pause"}}
    job = await rare.job("supervised", *CHATS, hyperparameters=FAST, stop=stop)
    paused = await rare.run(job)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 3)
    assert saves.steps == [1, 3]
    await runs.read.resume(job)
    await rare.killed_at(job, 4)
    assert (await rare.world.read(job)).step == 4
    tuned = await rare.run(job)
    assert tuned.status is JobStatus.SUCCEEDED, tuned.error
    assert saves.steps[-1] == 8
    assert await _weights(runs, tuned) == await _weights(runs, whole)
    assert tuned.trained_tokens == whole.trained_tokens
    for name, split in (("train/loss", "train"), ("batch/loss", "valid")):
        found, expected = [await runs.read.curve(one, name, split) for one in (tuned, whole)]
        assert found == expected
    messages = [event.message for event in await runs.read.events(tuned)]
    steps = [message.split(":")[0] for message in messages if message.startswith("Step ")]
    assert steps == [f"Step {n}/8" for n in range(1, 9)]


def test_saving_takes_its_share_of_the_time_at_most() -> None:
    now = saving = 0.0
    schedule = SaveSchedule(0.05, lambda: now)
    for _ in range(5_000):
        now += 0.3  # a step
        if schedule.due:
            now, saving = now + 0.7, saving + 0.7
            schedule.saved(0.7)
    assert 0.04 < saving / now <= 0.05
