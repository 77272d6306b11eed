"""Each policy loss, correction and KL penalty in the real trainer: the gradient of every LoRA
weight compared with the formula.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from app.rollouts import metrics as names
from tests.support.learning.samples import MakeTrainer
from tests.support.learning.written_out import (
    WrittenRow,
    compare,
    made_trainer,
    near,
    rows_of,
    weighted,
)
from workers.learning.trainer import MismatchConfig, TrainingSample


def ppo_slope(row: WrittenRow, *, high: float, dual: float) -> Tensor:
    off = ((row.a > 0) & (row.r > 1 + high)) | ((row.a < 0) & ((row.r < 0.8) | (row.r > dual)))
    return torch.where(off, 0.0, -row.r * row.a)


@pytest.mark.parametrize(
    ("loss", "options", "slope"),
    [
        ("importance_sampling", {}, lambda row: -row.r * row.a),
        ("ppo", {}, lambda row: ppo_slope(row, high=0.2, dual=math.inf)),
        (
            "ppo",
            {"epsilon_high": 0.28, "dual_clip": 1.5},
            lambda row: ppo_slope(row, high=0.28, dual=1.5),
        ),
        ("cispo", {"low": 0.7, "high": 1.3}, lambda row: -row.r.clamp(0.7, 1.3) * row.a),
        ("dro", {"beta": 0.3}, lambda row: -row.a + 0.3 * row.d),
    ],
)
def test_policy_losses(
    make_trainer: MakeTrainer,
    loss: str,
    options: dict[str, Any],
    slope: Callable[[WrittenRow], Tensor],
) -> None:
    """For dro the sample with advantage 0 has a gradient too."""
    trainer = made_trainer(make_trainer, loss, loss_options=options)
    compare(trainer, near(trainer), weighted(slope))


def test_advantages_per_token(make_trainer: MakeTrainer) -> None:
    trainer = made_trainer(make_trainer, "importance_sampling")
    samples = [
        sample.with_token_advantages([math.sin(3.0 * index) for index in range(len(sample.tokens))])
        for sample in near(trainer)
    ]
    compare(trainer, samples, weighted(lambda row: -row.r * row.a))


def product(row: WrittenRow) -> Tensor:
    return row.d.sum().exp()


@pytest.mark.parametrize("loss", ["ppo", "importance_sampling", "cispo"])
@pytest.mark.parametrize(
    ("config", "weight"),
    [
        (MismatchConfig(truncation="token", cap=1.2), lambda row: row.r.clamp(max=1.2)),
        (
            MismatchConfig(truncation="sequence", cap=1.5),
            lambda row: product(row).clamp(max=1.5) * torch.ones_like(row.r),
        ),
        (
            MismatchConfig(truncation="token", cap=1.2, max_log_ratio=0.6),
            lambda row: row.r.clamp(max=1.2) * (row.d.abs() <= 0.6),
        ),
    ],
)
def test_truncation_replaces_the_losss_own_ratio(
    make_trainer: MakeTrainer,
    loss: str,
    config: MismatchConfig,
    weight: Callable[[WrittenRow], Tensor],
) -> None:
    trainer = made_trainer(make_trainer, loss, mismatch=config)
    samples = near(trainer)
    compare(trainer, samples, weighted(lambda row: -weight(row) * row.a))


@pytest.mark.parametrize(
    ("config", "keeps"),
    [
        (
            MismatchConfig(sequence_mask="geometric_mean", band=(0.9, 1.05)),
            lambda row: 0.9 <= float(row.d.mean().exp()) <= 1.05,
        ),
        (
            MismatchConfig(sequence_mask="product", band=(0.5, 2.0)),
            lambda row: 0.5 <= float(product(row)) <= 2.0,
        ),
    ],
)
def test_sequence_masks_keep_the_denominator(
    make_trainer: MakeTrainer, config: MismatchConfig, keeps: Callable[[WrittenRow], bool]
) -> None:
    trainer = made_trainer(make_trainer, "importance_sampling", mismatch=config)
    samples = near(trainer)
    kept = [keeps(row) for row in rows_of(trainer, samples)]
    assert 1 <= sum(kept[:-1]) < len(kept) - 1
    compare(trainer, samples, weighted(lambda row: -row.r * row.a * keeps(row)))
    stats = trainer.update(samples)
    worked = [(s.trained_tokens, k) for s, k in zip(samples[:-1], kept[:-1], strict=True)]
    share = sum(n for n, k in worked if not k) / sum(n for n, _ in worked)
    assert stats[names.MASKED_SHARE] == pytest.approx(share)
    assert stats[names.TRUNCATED_SHARE] == 0.0


def test_truncation_needs_the_policy_before_the_step(make_trainer: MakeTrainer) -> None:
    with pytest.raises(ValueError, match="minibatches"):
        made_trainer(
            make_trainer, "ppo", minibatches=2, mismatch=MismatchConfig(truncation="token")
        )


def test_without_a_correction_no_share_is_reported(make_trainer: MakeTrainer) -> None:
    trainer = made_trainer(make_trainer, "ppo")
    assert names.MASKED_SHARE not in trainer.update(near(trainer))


def test_the_kl_penalty_towards_the_base(make_trainer: MakeTrainer) -> None:
    """Expects A_t + c·(mean of the group's q - base, minus the token's), with the adapter disabled
    for `base`; the penalty also applies to the sample with advantage 0.
    """
    trainer = made_trainer(make_trainer, "importance_sampling", kl_coefficient=0.3)
    samples = near(trainer)
    with torch.no_grad(), trainer._adapted.peft.disable_adapter():
        base = [row.lp for row in rows_of(trainer, samples)]
    with torch.no_grad():
        distances = [row.q - b for row, b in zip(rows_of(trainer, samples), base, strict=True)]
    pulls = [
        torch.cat(distances[index // 4 * 4 : index // 4 * 4 + 4]).mean() - own
        for index, own in enumerate(distances)
    ]

    def value(rows: Sequence[WrittenRow]) -> Tensor:
        return torch.stack(
            [
                -(row.r * (row.a + 0.3 * pull) * row.lp).sum()
                for row, pull in zip(rows, pulls, strict=True)
            ]
        ).sum()

    compare(trainer, samples, value)
    stats = trainer.update(samples)
    assert stats[names.BASE_KL_K1] == pytest.approx(float(torch.cat(distances).mean()), rel=1e-5)


def test_the_kl_penalty_of_a_step_in_parts_is_that_of_the_whole(make_trainer: MakeTrainer) -> None:
    whole = made_trainer(make_trainer, "ppo", kl_coefficient=0.3)
    parts = made_trainer(make_trainer, "ppo", kl_coefficient=0.3)
    samples = near(whole)
    expected = whole.update(samples)
    parts.accumulate(samples[4:])
    parts.accumulate(samples[:4])
    stats = parts.step()
    for name in (names.GRAD_NORM, names.LOSS, names.BASE_KL_K1):
        assert stats[name] == pytest.approx(expected[name], rel=1e-5)


@pytest.mark.parametrize("max_tokens", [1, 100, 4096])
def test_reference_logprobs_are_the_bases(make_trainer: MakeTrainer, max_tokens: int) -> None:
    """Tests this during training, for all batch sizes and samples without gradient."""
    trainer = made_trainer(make_trainer, "ppo", max_batch_tokens=max_tokens)
    samples = [
        *near(trainer),
        TrainingSample([1, 2, 3], [0, 0, 0], [0.0] * 3, 1.0),
        TrainingSample([1, 2, 3, 4], [0, 0, 1, 1], [0.0] * 4, 0.0),
        TrainingSample([1, 2, 5, 4], [0, 0, 1, 0], [0.0] * 4, 1.0),
    ]
    found = trainer.reference_logprobs(samples)
    for sample, got in zip(samples, found, strict=True):
        plain = [0.0, *trainer.logprobs(sample.tokens, adapter=False)]
        assert got == pytest.approx(
            [v * m for v, m in zip(plain, sample.mask, strict=True)], abs=1e-9
        )
    assert trainer.logprobs(samples[0].tokens) != trainer.logprobs(samples[0].tokens, adapter=False)
