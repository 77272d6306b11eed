"""Supervised and preference runs whose loss, held out or trained on, is not a number."""

from math import inf, nan
from typing import Any

import pytest

from app.jobs.jobs import JobStatus
from tests.support.supervised.runs import SupervisedRuns, chat_row
from workers.learning.lora_trainer import LoraTrainer

TRAIN, VALID = [chat_row(n) for n in range(10)], [chat_row(n) for n in range(20, 30)]


async def test_a_baseline_without_its_loss_is_measured_once(
    runs: SupervisedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = LoraTrainer.evaluate

    def evaluate(self: LoraTrainer, sets: Any, *, adapter: bool) -> list[dict[str, float]]:
        return [
            {name: nan if name.endswith("loss") else value for name, value in row.items()}
            for row in measure(self, sets, adapter=adapter)
        ]

    monkeypatch.setattr(LoraTrainer, "evaluate", evaluate)
    job = await runs.job(
        "supervised", TRAIN, VALID, hyperparameters={"n_epochs": 2, "batch_size": 2}
    )
    await runs.killed_at(job, 1)
    await runs.killed_at(job, 3)
    done = await runs.run(job)
    assert done.status is JobStatus.SUCCEEDED, done.error

    events = await runs.read.events(job)
    before = [event.message for event in events if event.message.startswith("Before training")]
    assert before == ["Before training: no finite loss"]
    warned = [
        event.message
        for event in events
        if event.level == "warn" and "validation of step 0 " in event.message
    ]
    assert warned == ["The validation of step 0 gave no finite value of train/loss."]
    report = await runs.read.report(done)
    assert (report["rows"], report["rows_left_out"], report["ties"]) == (0, len(VALID), 0)


async def test_a_job_whose_every_update_is_left_out_publishes_no_model(
    runs: SupervisedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = LoraTrainer._clipped_step
    monkeypatch.setattr(
        LoraTrainer, "_clipped_step", lambda self, _, denominator: step(self, inf, denominator)
    )
    job = await runs.job("supervised", TRAIN, hyperparameters={"n_epochs": 1, "batch_size": 5})
    ended = await runs.run(job)
    assert (ended.status, ended.step, ended.fine_tuned_model) == (JobStatus.FAILED, 2, None)
    assert ended.error is not None
    assert ended.error.code == "nothing_to_learn"
    assert str(ended.error.message).startswith(
        "Nothing was learned, so no model is published: every update was left out, because its loss"
    )
    assert ended.trained_tokens == 0
    last = (await runs.read.events(job))[-1]
    assert (last.level, last.message) == ("error", ended.error.message)
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        names = [model.name for model in await unit.models.all() if model.job_id == job.id]
    assert [name for name in names if ":ckpt-step-" not in name] == []
