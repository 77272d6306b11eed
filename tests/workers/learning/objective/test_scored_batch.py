"""Evaluation of sample sets that share micro-batches, split by set again."""

from typing import Any

import pytest

from tests.support.learning.samples import MakeTrainer, random_samples
from workers.learning.batches import MicroBatch
from workers.learning.head import TokenScores
from workers.learning.trainer import TrainingSample


@pytest.mark.parametrize("max_tokens", [1, 100, 4096])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("cross_entropy", {}),
        ("label_smoothing", {"smoothing": 0.2}),
        ("focal", {}),
        ("dpo", {"beta": 0.3}),
        ("dpo", {"variant": "ipo"}),
        ("bradley_terry", {"length_normalised": True}),
    ],
)
def test_sets_that_share_batches_have_the_values_of_each_alone(
    make_trainer: MakeTrainer,
    samples: list[TrainingSample],
    loss: str,
    options: dict[str, Any],
    max_tokens: int,
) -> None:
    trainer = make_trainer(
        options={"loss": loss, "loss_options": options, "max_batch_tokens": max_tokens}
    )
    trainer.update(samples)
    sizes = (2, 4, 2, 2, 2) if loss in {"dpo", "bradley_terry"} else (1, 3, 2, 5, 1)
    indices = iter(samples)
    sets = [[next(indices) for _ in range(size)] for size in sizes]
    together = trainer.evaluate([*sets, []])
    assert together.pop() == trainer.evaluate([[]])[0]
    for its_samples, said in zip(sets, together, strict=True):
        (alone,) = trainer.evaluate([its_samples])
        assert said.keys() == alone.keys()
        assert said == pytest.approx(alone, rel=1e-4, abs=1e-6)
        assert said["train/computed_tokens"] == sum(sample.trained_tokens for sample in its_samples)


def test_sets_that_share_batches_are_run_on_together(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer(options={"loss": "cross_entropy"})
    scorer, runs = trainer._adapted.scorer, []

    class Counting:
        packing = scorer.packing

        def __call__(self, batch: MicroBatch, *, mean: bool) -> TokenScores:
            runs.append(len(batch.ids_M))
            return scorer(batch, mean=mean)

    trainer._adapted.scorer = Counting()  # type: ignore[assignment]  # all that is asked of it
    samples = random_samples(3, count=16)
    trainer.evaluate([[sample] for sample in samples])
    assert len(runs) == 1
