"""Each loss, correction and pull through the real trainer: its gradient of every LoRA weight beside
the formula written out on the model's full logits, one row at a time in float64.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from app.domain import metrics as names
from tests.workers.learning.conftest import MakeTrainer, random_samples
from tests.workers.learning.test_trainer import gradients, warmed
from workers.learning.mismatch import MismatchConfig
from workers.learning.samples import TrainingSample
from workers.learning.trainer import LoraTrainer

TEMPERATURE = 0.8


@dataclass(frozen=True, slots=True)
class Row:
    """One sample's trained tokens, with gradient."""

    lp: Tensor
    mean_lp: Tensor
    q: Tensor
    a: Tensor

    @property
    def d(self) -> Tensor:
        """The log-ratio, without gradient."""
        return self.lp.detach() - self.q

    @property
    def r(self) -> Tensor:
        return self.d.exp()


Value = Callable[[Sequence[Row]], Tensor]
"""The loss of a step before it is divided."""


def made(make_trainer: MakeTrainer, loss: str, **options: Any) -> LoraTrainer:
    return warmed(
        make_trainer,
        temperature=TEMPERATURE,
        options={"dtype": torch.float64, "loss": loss, **options},
    )


def near(trainer: LoraTrainer, *, noise: float = 0.5, count: int = 8) -> list[TrainingSample]:
    """Samples whose sampler was near the policy; the last one has no advantage."""
    generator = torch.Generator().manual_seed(9)
    samples = []
    for number, one in enumerate(random_samples(5, count=count)):
        lp = [0.0, *trainer.logprobs(one.tokens)]
        shifts = (torch.randn(len(lp), generator=generator) * noise).tolist()
        q = [(v + s) * m for v, s, m in zip(lp, shifts, one.mask, strict=True)]
        advantage = 0.0 if number == count - 1 else one.advantage
        samples.append(TrainingSample(one.tokens, one.mask, q, advantage, group=number // 4))
    return samples


def rows_of(trainer: LoraTrainer, samples: Sequence[TrainingSample]) -> list[Row]:
    rows = []
    for sample in samples:
        ids_1T = torch.tensor([list(sample.tokens)])
        logits_TV = trainer._model(input_ids=ids_1T).logits[0, :-1] / TEMPERATURE
        logp_TV = logits_TV.log_softmax(-1)
        trained = [place for place, m in enumerate(sample.mask) if m]
        picked_TV = logp_TV[[place - 1 for place in trained]]
        targets_T1 = torch.tensor([[sample.tokens[place]] for place in trained])
        rows.append(
            Row(
                lp=picked_TV.gather(1, targets_T1)[:, 0],
                mean_lp=picked_TV.mean(-1),
                q=torch.tensor([sample.logprobs[place] for place in trained]).double(),
                a=torch.tensor([sample.advantage_of(place) for place in trained]).double(),
            )
        )
    return rows


def compare(
    trainer: LoraTrainer,
    samples: Sequence[TrainingSample],
    value: Value,
    *,
    denominator: int | None = None,
) -> None:
    """The reduction is part of it: a sum over all samples, divided once by one number."""
    got = gradients(trainer, list(samples))
    for parameter in trainer._parameters.values():
        parameter.grad = None
    tokens = sum(sample.trained_tokens for sample in samples)
    (value(rows_of(trainer, samples)) / (denominator or tokens)).backward()  # type: ignore[no-untyped-call]
    largest = max(float(g.abs().max()) for g in got.values())
    assert largest > 1e-3
    for name, parameter in trainer._parameters.items():
        assert parameter.grad is not None
        torch.testing.assert_close(got[name], parameter.grad, rtol=1e-5, atol=2e-6 * largest)


def weighted(slope: Callable[[Row], Tensor]) -> Value:
    """The loss whose gradient by a token's log-prob is `slope`."""
    return lambda rows: torch.stack([(slope(row).detach() * row.lp).sum() for row in rows]).sum()


def ppo_slope(row: Row, *, high: float, dual: float) -> Tensor:
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
    make_trainer: MakeTrainer, loss: str, options: dict[str, Any], slope: Callable[[Row], Tensor]
) -> None:
    """With dro the sample without an advantage has a gradient too."""
    trainer = made(make_trainer, loss, loss_options=options)
    compare(trainer, near(trainer), weighted(slope))


def test_advantages_per_token(make_trainer: MakeTrainer) -> None:
    trainer = made(make_trainer, "importance_sampling")
    samples = [
        sample.with_token_advantages([math.sin(3.0 * place) for place in range(len(sample.tokens))])
        for sample in near(trainer)
    ]
    compare(trainer, samples, weighted(lambda row: -row.r * row.a))


def product(row: Row) -> Tensor:
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
def test_truncation_takes_the_place_of_the_losss_own_ratio(
    make_trainer: MakeTrainer,
    loss: str,
    config: MismatchConfig,
    weight: Callable[[Row], Tensor],
) -> None:
    trainer = made(make_trainer, loss, mismatch=config)
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
    make_trainer: MakeTrainer, config: MismatchConfig, keeps: Callable[[Row], bool]
) -> None:
    trainer = made(make_trainer, "importance_sampling", mismatch=config)
    samples = near(trainer)
    kept = [keeps(row) for row in rows_of(trainer, samples)]
    assert 1 <= sum(kept[:-1]) < len(kept) - 1
    compare(trainer, samples, weighted(lambda row: -row.r * row.a * keeps(row)))
    stats = trainer.update(samples)
    worked = [(s.trained_tokens, k) for s, k in zip(samples[:-1], kept[:-1], strict=True)]
    share = sum(n for n, k in worked if not k) / sum(n for n, _ in worked)
    assert stats[names.LEFT_OUT_SHARE] == pytest.approx(share)
    assert stats[names.TRUNCATED_SHARE] == 0.0


def test_truncation_needs_the_policy_before_the_step(make_trainer: MakeTrainer) -> None:
    with pytest.raises(ValueError, match="minibatches"):
        made(make_trainer, "ppo", minibatches=2, mismatch=MismatchConfig(truncation="token"))


def test_without_a_correction_no_share_is_reported(make_trainer: MakeTrainer) -> None:
    trainer = made(make_trainer, "ppo")
    assert names.LEFT_OUT_SHARE not in trainer.update(near(trainer))


def test_the_pull_towards_the_base(make_trainer: MakeTrainer) -> None:
    """A_t + c·(mean of the group's q - base, less the token's), with the adapter off for `base`;
    the sample without an advantage is pulled like the others.
    """
    trainer = made(make_trainer, "importance_sampling", kl_coefficient=0.3)
    samples = near(trainer)
    with torch.no_grad(), trainer._model.disable_adapter():
        base = [row.lp for row in rows_of(trainer, samples)]
    with torch.no_grad():
        distances = [row.q - b for row, b in zip(rows_of(trainer, samples), base, strict=True)]
    pulls = [
        torch.cat(distances[place // 4 * 4 : place // 4 * 4 + 4]).mean() - own
        for place, own in enumerate(distances)
    ]

    def value(rows: Sequence[Row]) -> Tensor:
        return torch.stack(
            [
                -(row.r * (row.a + 0.3 * pull) * row.lp).sum()
                for row, pull in zip(rows, pulls, strict=True)
            ]
        ).sum()

    compare(trainer, samples, value)
    stats = trainer.update(samples)
    assert stats[names.BASE_KL] == pytest.approx(float(torch.cat(distances).mean()), rel=1e-5)


def test_the_pull_of_a_step_in_parts_is_that_of_the_whole(make_trainer: MakeTrainer) -> None:
    whole = made(make_trainer, "ppo", kl_coefficient=0.3)
    parts = made(make_trainer, "ppo", kl_coefficient=0.3)
    samples = near(whole)
    expected = whole.update(samples)
    parts.accumulate(samples[4:])
    parts.accumulate(samples[:4])
    stats = parts.step()
    for name in (names.GRAD_NORM, names.LOSS, names.BASE_KL):
        assert stats[name] == pytest.approx(expected[name], rel=1e-5)


@pytest.mark.parametrize("max_tokens", [1, 100, 4096])
def test_reference_logprobs_are_the_bases(make_trainer: MakeTrainer, max_tokens: int) -> None:
    """Whatever is trained, in whatever batches, and for samples that nothing is learned from."""
    trainer = made(make_trainer, "ppo", max_batch_tokens=max_tokens)
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
def test_losses_of_given_text(
    make_trainer: MakeTrainer, loss: str, options: dict[str, Any], value: Value
) -> None:
    trainer = made(make_trainer, loss, loss_options=options)
    compare(trainer, near(trainer), value)


def pairs(rows: Sequence[Row], score: Callable[[Row], Tensor]) -> Tensor:
    """Chosen less rejected, by pair."""
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
        "bradley_terry",
        {"length_normalised": True},
        lambda rows: -pairs(rows, lambda row: row.lp.mean()).sigmoid().log().sum(),
    ),
]


@pytest.mark.parametrize("max_tokens", [1, 4096])
@pytest.mark.parametrize(("loss", "options", "value"), PAIRS)
def test_losses_of_pairs(
    make_trainer: MakeTrainer,
    loss: str,
    options: dict[str, Any],
    value: Value,
    max_tokens: int,
) -> None:
    """Divided by the number of pairs, however they fall into micro-batches."""
    trainer = made(make_trainer, loss, loss_options=options, max_batch_tokens=max_tokens)
    samples = [
        TrainingSample(one.tokens, one.mask, one.logprobs, 1.0) for one in near(trainer, noise=0.1)
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
