"""A trainer that starts from a tuned adapter."""

from pathlib import Path

import pytest

from tests.support.learning.samples import MakeTrainer
from workers.learning.adapters import adapter_tensors
from workers.learning.trainer import TrainingSample


def test_it_starts_there_and_finds_back(
    make_trainer: MakeTrainer, samples: list[TrainingSample], tmp_path: Path
) -> None:
    first = make_trainer()
    bare = first.reference_logprobs(samples)
    first.update(samples)
    first.save_adapter(tmp_path / "start")
    probe = samples[0].tokens
    there = first.logprobs(probe)
    assert there != first.logprobs(probe, adapter=False)

    second = make_trainer(options={"start": tmp_path / "start"})
    assert second.logprobs(probe) == there
    reference = second.reference_logprobs(samples)
    assert reference != bare
    second.update(samples)
    moved = second.logprobs(probe)
    assert moved != there
    assert second.reference_logprobs(samples) == reference, "the start does not move"
    assert second.logprobs(probe) == moved, "and looking back changes nothing"
    second.update(samples)
    assert second.steps == 2
    second.save_state(tmp_path / "state")
    resumed = make_trainer(options={"start": tmp_path / "start"})
    resumed.load_state(tmp_path / "state")
    assert resumed.logprobs(probe) == second.logprobs(probe)
    assert resumed.reference_logprobs(samples) == reference


def test_a_start_of_another_rank_is_refused(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    make_trainer().save_adapter(tmp_path / "start")
    with pytest.raises(ValueError, match=r"differs from this run's in \['r'\]"):
        make_trainer(rank=2, options={"start": tmp_path / "start"})


def test_evaluation_learns_nothing_and_reports_what_a_step_reports(
    make_trainer: MakeTrainer, samples: list[TrainingSample]
) -> None:
    trainer = make_trainer(options={"loss": "cross_entropy"})
    before = adapter_tensors(trainer._adapted.peft)
    (said,) = trainer.evaluate([samples])
    assert {name: t.tolist() for name, t in before.items()} == {
        name: t.tolist() for name, t in adapter_tensors(trainer._adapted.peft).items()
    }
    step = trainer.update(samples)
    for name in ("train/loss", "train/token_accuracy", "train/computed_tokens", "train/entropy"):
        assert said[name] == pytest.approx(step[name], rel=1e-6), name
    assert trainer.steps == 1
