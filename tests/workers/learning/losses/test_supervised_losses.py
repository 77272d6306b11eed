import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.support.cases import cases
from workers.learning.losses import LossInputs, build_loss

GIVEN = [("cross_entropy", {}), ("label_smoothing", {"smoothing": 0.2}), ("focal", {"gamma": 1.5})]
TARGETS = torch.tensor([1, 0, 4, 2])
WEIGHTS = torch.tensor([1.0, 0.5, 0.0, -2.0], dtype=torch.float64)


def logits(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(4, 5, generator=generator, dtype=torch.float64) * 2


def value(
    name: str, options: dict[str, float], z_NV: Tensor, *, mask_N: Tensor | None = None
) -> Tensor:
    """Returns the loss of logits through log-probs and their means, as a head computes them."""
    logp_NV = z_NV.log_softmax(-1)
    inputs = LossInputs(
        logprobs_N=logp_NV.gather(1, TARGETS[:, None])[:, 0],
        sampler_logprobs_N=torch.zeros(4, dtype=torch.float64),
        advantages_N=WEIGHTS,
        mask_N=torch.ones(4, dtype=torch.bool) if mask_N is None else mask_N,
        rows_N=torch.zeros(4, dtype=torch.long),
        mean_logprobs_N=logp_NV.mean(-1),
    )
    return build_loss(name, **options)(inputs).total


def gradient(name: str, options: dict[str, float], z_NV: Tensor) -> Tensor:
    z_NV = z_NV.clone().requires_grad_()
    (grad_NV,) = torch.autograd.grad(value(name, options, z_NV), z_NV)
    return grad_NV


def test_cross_entropy_is_the_weighted_sum() -> None:
    losses_N = torch.nn.functional.cross_entropy(logits(), TARGETS, reduction="none")
    assert float(value("cross_entropy", {}, logits())) == pytest.approx(
        float((WEIGHTS * losses_N).sum())
    )
    onehot_NV = torch.nn.functional.one_hot(TARGETS, 5).double()
    expected_NV = WEIGHTS[:, None] * (logits().softmax(-1) - onehot_NV)
    got_NV = gradient("cross_entropy", {}, logits())
    torch.testing.assert_close(got_NV, expected_NV, rtol=0, atol=1e-12)


@cases("share", [0.0, 0.1, 0.6])
def test_label_smoothing_is_lse_minus_the_smoothed_logits(share: float) -> None:
    """Compares with Σ w·(lse(z) - (1-ε)·z_y - ε/V·Σ z) and with torch's loss."""
    z_NV = logits()
    picked_N = z_NV.gather(1, TARGETS[:, None])[:, 0]
    plain_N = z_NV.logsumexp(-1) - (1 - share) * picked_N - share / 5 * z_NV.sum(-1)
    got = float(value("label_smoothing", {"smoothing": share}, z_NV))
    assert got == pytest.approx(float((WEIGHTS * plain_N).sum()))
    theirs_N = torch.nn.functional.cross_entropy(
        z_NV, TARGETS, reduction="none", label_smoothing=share
    )
    assert got == pytest.approx(float((WEIGHTS * theirs_N).sum()))
    onehot_NV = torch.nn.functional.one_hot(TARGETS, 5).double()
    slope_NV = z_NV.softmax(-1) - (1 - share) * onehot_NV - share / 5
    got_NV = gradient("label_smoothing", {"smoothing": share}, z_NV)
    torch.testing.assert_close(got_NV, WEIGHTS[:, None] * slope_NV, rtol=0, atol=1e-12)


@cases("gamma", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_focal_values_and_gradient(gamma: float) -> None:
    lp_N = torch.tensor([-0.01, -0.7, -3.0, -40.0], dtype=torch.float64, requires_grad=True)
    inputs = LossInputs(
        lp_N,
        torch.zeros(4, dtype=torch.float64),
        WEIGHTS,
        torch.ones(4, dtype=torch.bool),
        torch.zeros(4, dtype=torch.long),
    )
    total = build_loss("focal", gamma=gamma)(inputs).total
    (grad_N,) = torch.autograd.grad(total, lp_N)
    p_N = lp_N.detach().exp()
    expected = -(WEIGHTS * (1 - p_N) ** gamma * lp_N.detach()).sum()
    assert float(total.detach()) == pytest.approx(float(expected))
    slope_N = WEIGHTS * (1 - p_N) ** (gamma - 1) * (gamma * p_N * lp_N.detach() - (1 - p_N))
    torch.testing.assert_close(grad_N, slope_N, rtol=0, atol=1e-12)


@cases("gamma", [0.0, 0.5, 2.0])
@cases("sure", [0.0, 1e-7])
def test_focal_of_a_token_that_is_certain_is_finite(gamma: float, sure: float) -> None:
    """A log-prob can be 0, or slightly greater by rounding."""
    lp_N = torch.tensor([sure], requires_grad=True)
    ones = torch.ones(1)
    inputs = LossInputs(lp_N, ones, ones, ones.bool(), torch.zeros(1, dtype=torch.long))
    total = build_loss("focal", gamma=gamma)(inputs).total
    (grad_N,) = torch.autograd.grad(total, lp_N)
    assert float(total.detach()) == pytest.approx(0.0, abs=1e-6)
    assert float(grad_N) == pytest.approx(-1.0 if gamma == 0 else 0.0, abs=1e-5)


@cases(("name", "options"), GIVEN)
def test_a_masked_token_weighs_nothing_whatever_stands_on_it(
    name: str, options: dict[str, float]
) -> None:
    mask_N = torch.tensor([True, True, False, False])
    bad_NV = logits()
    bad_NV[2:] = math.nan
    z_NV = bad_NV.clone().requires_grad_()
    total = value(name, options, z_NV, mask_N=mask_N)
    zeroed = value(name, options, logits(), mask_N=mask_N)
    assert float(total.detach()) == float(zeroed)
    lp_N = torch.full((4,), -1.0, requires_grad=True)
    mean_N = torch.full((4,), -2.0, requires_grad=True)
    ones_N = torch.tensor([1.0, 1.0, math.nan, math.inf])
    rows_N = torch.zeros(4, dtype=torch.long)
    inputs = LossInputs(lp_N, ones_N, ones_N, mask_N, rows_N, mean_N)
    total = build_loss(name, **options)(inputs).total
    of_lp_N, of_mean_N = torch.autograd.grad(
        total, (lp_N, mean_N), allow_unused=True, materialize_grads=True
    )
    assert of_lp_N[2:].tolist() == of_mean_N[2:].tolist() == [0.0, 0.0]
    assert of_lp_N[:2].abs().min() > 0


@settings(deadline=None)
@given(shift=st.floats(-50, 50), seed=st.integers(0, 50))
def test_a_constant_on_all_logits_changes_nothing(shift: float, seed: int) -> None:
    for name, options in GIVEN:
        z_NV = logits(seed)
        plain, moved = value(name, options, z_NV), value(name, options, z_NV + shift)
        assert float(moved) == pytest.approx(float(plain), abs=1e-9)
        grad_NV = gradient(name, options, z_NV)
        torch.testing.assert_close(
            gradient(name, options, z_NV + shift), grad_NV, rtol=0, atol=1e-10
        )
        torch.testing.assert_close(
            grad_NV.sum(-1), torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-12
        )


def test_without_smoothing_or_focus_all_are_cross_entropy() -> None:
    plain_NV = gradient("cross_entropy", {}, logits())
    for name, options in (("label_smoothing", {"smoothing": 0.0}), ("focal", {"gamma": 0.0})):
        torch.testing.assert_close(gradient(name, options, logits()), plain_NV, rtol=0, atol=1e-10)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="smoothing"):
        build_loss("label_smoothing", smoothing=1.0)
    with pytest.raises(ValueError, match="gamma"):
        build_loss("focal", gamma=-1)
    ones = torch.ones(1)
    with pytest.raises(ValueError, match="mean over the vocabulary"):
        build_loss("label_smoothing")(LossInputs(ones, ones, ones, ones.bool(), ones.long()))
