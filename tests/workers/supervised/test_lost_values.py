"""A supervised run whose held-out loss is not a number."""

from math import nan
from typing import Any

import pytest

from app.domain.jobs.jobs import JobStatus
from tests.support.supervised.runs import SupervisedRuns, chat_row
from workers.learning.training.lora_trainer import LoraTrainer

TRAIN, VALID = [chat_row(n) for n in range(10)], [chat_row(n) for n in range(20, 30)]


@pytest.mark.parametrize("lost", ["loss", "all"])
async def test_a_baseline_without_its_loss_is_measured_once(
    runs: SupervisedRuns, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    measure = LoraTrainer.evaluate

    def evaluate(self: LoraTrainer, sets: Any, *, adapter: bool) -> list[dict[str, float]]:
        bad = ("loss",) if lost == "loss" else ("loss", "token_accuracy")
        return [
            {name: nan if name.endswith(bad) else value for name, value in row.items()}
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
    names = "train/loss" if lost == "loss" else "train/loss, train/token_accuracy"
    assert warned == [f"The validation of step 0 gave no finite value of {names}."]
    report = await runs.read.report(done)
    assert (report["rows"], report["rows_left_out"], report["ties"]) == (0, len(VALID), 0)
