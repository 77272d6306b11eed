"""Each loss on supervised and preference data in the real trainer: the gradient of every LoRA
weight compared with the formula.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from app.rollouts import metrics as names
from tests.support.learning.samples import MakeTrainer
from tests.support.learning.written_out import (
    Value,
    WrittenRow,
    compare,
    made_trainer,
    near,
    rows_of,
)
from workers.learning.trainer import TrainingSample

TEXT: list[tuple[str, dict[str, Any], Value]] = [
    ("cross_entropy", {}, lambda rows: -torch.cat([row.a * row.lp for row in rows]).sum()),
    (
        "label_smoothing",
        {"smoothing": 0.2},
        lambda rows: -torch.cat([row.a * (0.8 * row.lp + 0.2 * row.mean_lp) for row in rows]).sum(),
    ),
    (
        "focal",
        {"gamma": 2.0},
        lambda rows: (
            -torch.cat([row.a * (1 - row.lp.exp()).square() * row.lp for row in rows]).sum()
        ),
    ),
]


@pytest.mark.parametrize(("loss", "options", "value"), TEXT)
def test_losses_of_supervised_data(
    make_trainer: MakeTrainer, loss: str, options: dict[str, Any], value: Value
) -> None:
    trainer = made_trainer(make_trainer, loss, loss_options=options)
    compare(trainer, near(trainer), value)


def pairs(rows: Sequence[WrittenRow], score: Callable[[WrittenRow], Tensor]) -> Tensor:
    """Returns the chosen minus the rejected value of each pair."""
    return torch.stack([score(rows[n]) - score(rows[n + 1]) for n in range(0, len(rows), 2)])


PAIRS: list[tuple[str, dict[str, Any], Value]] = [
    (
        "dpo",
        {"beta": 0.2, "label_smoothing": 0.1},
        lambda rows: (
            -0.9 * (0.2 * pairs(rows, lambda row: (row.lp - row.q).sum())).sigmoid().log()
            - 0.1 * (-0.2 * pairs(rows, lambda row: (row.lp - row.q).sum())).sigmoid().log()
        ).sum(),
    ),
    (
        "dpo",
        {"variant": "ipo"},
        lambda rows: (pairs(rows, lambda row: (row.lp - row.q).mean()) - 5.0).square().sum(),
    ),
    (
        "dpo",
        {"rpo_alpha": 0.5},
        lambda rows: (
            -(0.1 * pairs(rows, lambda row: (row.lp - row.q).sum())).sigmoid().log()
            - 0.5 * torch.stack([row.lp.mean() for row in rows[::2]])
        ).sum(),
    ),
    (
        "bradley_terry",
        {"length_normalised": True},
        lambda rows: -pairs(rows, lambda row: row.lp.mean()).sigmoid().log().sum(),
    ),
]


@pytest.mark.parametrize("max_tokens", [1, 4096])
@pytest.mark.parametrize(("loss", "options", "value"), PAIRS)
def test_losses_of_pairs(
    make_trainer: MakeTrainer, loss: str, options: dict[str, Any], value: Value, max_tokens: int
) -> None:
    """Checks the division by the number of pairs for every split into micro-batches."""
    trainer = made_trainer(make_trainer, loss, loss_options=options, max_batch_tokens=max_tokens)
    samples = [
        TrainingSample(sample.tokens, sample.mask, sample.logprobs, 1.0)
        for sample in near(trainer, noise=0.1)
    ]
    rows = rows_of(trainer, samples)
    compare(trainer, samples, value, denominator=4)
    stats = trainer.update(samples)
    assert stats[names.LOSS] == pytest.approx(float(value(rows).detach()) / 4, rel=1e-5)
    rewards = [
        float(row.lp.detach().mean() if loss == "bradley_terry" else row.d.sum()) for row in rows
    ]
    beta = 1.0 if loss == "bradley_terry" else options.get("beta", 0.1)
    margins = [beta * (rewards[n] - rewards[n + 1]) for n in range(0, 8, 2)]
    assert stats[names.PREFERENCE_MARGIN] == pytest.approx(sum(margins) / 4, rel=1e-4)
    assert stats[names.PREFERENCE_ACCURACY] == sum(m > 0 for m in margins) / 4
    assert stats[names.PREFERENCE_CHOSEN_REWARD] - stats[
        names.PREFERENCE_REJECTED_REWARD
    ] == pytest.approx(sum(margins) / 4, rel=1e-4)
