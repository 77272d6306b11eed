import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from app.jobs.losses import LOSSES
from tests.support.cases import cases
from workers.learning.losses import Loss, LossInputs, LossTerms, build_loss

POLICY: dict[str, dict[str, float]] = {
    "importance_sampling": {},
    "ppo": {},
    "cispo": {},
    "dro": {"beta": 0.05},
}
"""Every loss on single rollouts, with its required options."""


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def call(loss: Loss, lp_N: Tensor, q_N: Tensor, a_N: Tensor, mask_N: Tensor) -> LossTerms:
    rows_N = torch.zeros(len(lp_N), dtype=torch.long)
    return loss(LossInputs(lp_N, q_N, a_N, mask_N, rows_N))


def run(loss: Loss, lp_N: Tensor, q_N: Tensor, a_N: Tensor, mask_N: Tensor) -> tuple[float, Tensor]:
    lp_N = lp_N.clone().requires_grad_()
    terms = call(loss, lp_N, q_N, a_N, mask_N)
    (grad_N,) = torch.autograd.grad(terms.total, lp_N)
    return float(terms.total.detach()), grad_N


# Ratios 0.5, 0.9, 1.1, 1.25, 2 under advantages of both signs.
RATIOS = vector(0.5, 0.9, 1.1, 1.25, 2.0, 0.5, 0.9, 1.1, 1.25, 2.0)
ADVANTAGES = vector(*[1.5] * 5, *[-0.5] * 5)
SAMPLER = vector(-1.0, -2.0, -0.3, -4.0, -1.5, -1.0, -2.0, -0.3, -4.0, -1.5)


def test_importance_sampling_values_and_gradient() -> None:
    everything = torch.ones(10, dtype=torch.bool)
    loss, grad_N = run(
        build_loss("importance_sampling"), SAMPLER + RATIOS.log(), SAMPLER, ADVANTAGES, everything
    )
    assert loss == pytest.approx(-(5.75 * 1.5) + 5.75 * 0.5)
    torch.testing.assert_close(grad_N, -RATIOS * ADVANTAGES, rtol=0, atol=1e-12)


@cases(
    ("options", "low", "high"),
    [({}, 0.8, 1.2), ({"epsilon": 0.05}, 0.95, 1.05), ({"epsilon_high": 0.28}, 0.8, 1.28)],
)
def test_ppo_values_and_gradient(options: dict[str, float], low: float, high: float) -> None:
    everything = torch.ones(10, dtype=torch.bool)
    lp_N = SAMPLER + RATIOS.log()
    expected, slope = 0.0, []
    for r, a in zip(RATIOS.tolist(), ADVANTAGES.tolist(), strict=True):
        expected -= min(r * a, min(max(r, low), high) * a)
        off = (a > 0 and r > high) or (a < 0 and r < low)
        slope.append(0.0 if off else -r * a)
    loss, grad_N = run(build_loss("ppo", **options), lp_N, SAMPLER, ADVANTAGES, everything)
    assert loss == pytest.approx(expected)
    torch.testing.assert_close(grad_N, vector(*slope), rtol=0, atol=1e-12)
    terms = call(build_loss("ppo", **options), lp_N, SAMPLER, ADVANTAGES, everything)
    assert terms.clipped_N.tolist() == [s == 0.0 for s in slope]


@cases(
    ("options", "low", "high"),
    [({}, 0.0, 4.0), ({"high": 1.2}, 0.0, 1.2), ({"low": 0.8, "high": 1.28}, 0.8, 1.28)],
)
def test_cispo_values_and_gradient(options: dict[str, float], low: float, high: float) -> None:
    everything = torch.ones(10, dtype=torch.bool)
    lp_N = SAMPLER + RATIOS.log()
    weights_N = vector(*[min(max(r, low), high) for r in RATIOS.tolist()])
    loss, grad_N = run(build_loss("cispo", **options), lp_N, SAMPLER, ADVANTAGES, everything)
    assert loss == pytest.approx(-float((weights_N * lp_N * ADVANTAGES).sum()))
    torch.testing.assert_close(grad_N, -weights_N * ADVANTAGES, rtol=0, atol=1e-12)
    terms = call(build_loss("cispo", **options), lp_N, SAMPLER, ADVANTAGES, everything)
    assert terms.clipped_N.tolist() == [not low <= r <= high for r in RATIOS.tolist()]


def test_dro_values_and_gradient() -> None:
    everything = torch.ones(10, dtype=torch.bool)
    lp_N = SAMPLER + RATIOS.log()
    loss, grad_N = run(build_loss("dro", beta=0.4), lp_N, SAMPLER, ADVANTAGES, everything)
    expected = -(lp_N * ADVANTAGES - 0.2 * (lp_N - SAMPLER).square()).sum()
    assert loss == pytest.approx(float(expected))
    slope_N = -ADVANTAGES + 0.4 * (lp_N - SAMPLER)
    torch.testing.assert_close(grad_N, slope_N, rtol=0, atol=1e-12)


@cases(("c", "bound"), [(3.0, 3.0), (1.5, 1.5)])
def test_dual_clip_bounds_a_negative_advantage(c: float, bound: float) -> None:
    """L = min(max(-A·r, -A·clip(r)), -A·c) where A < 0."""
    ratios_N = vector(0.5, 1.0, 1.4, 2.5, 5.0, 5.0)
    a_N, everything = vector(-2.0, -2.0, -2.0, -2.0, -2.0, 2.0), torch.ones(6, dtype=torch.bool)
    q_N = vector(*[-6.0] * 6)
    loss, grad_N = run(build_loss("ppo", dual_clip=c), q_N + ratios_N.log(), q_N, a_N, everything)
    worst = [min(max(2 * r, 2 * min(max(r, 0.8), 1.2)), 2 * c) for r in ratios_N[:5].tolist()]
    assert loss == pytest.approx(sum(worst) - 2 * 1.2)
    slope = [2 * r if 0.8 <= r <= bound else 0.0 for r in ratios_N[:5].tolist()]
    torch.testing.assert_close(grad_N, vector(*slope, 0.0), rtol=0, atol=1e-12)
    terms = call(build_loss("ppo", dual_clip=c), q_N + ratios_N.log(), q_N, a_N, everything)
    assert terms.clipped_N.tolist() == [s == 0.0 for s in [*slope, 0.0]]


@pytest.mark.parametrize("name", POLICY)
def test_a_masked_token_weighs_nothing_whatever_stands_on_it(name: str) -> None:
    lp_N, q_N = vector(-1.0, math.nan, -3.0, -1.0), vector(-1.2, -1.0, math.inf, -1.1)
    a_N, mask_N = vector(1.0, 2.0, 3.0, math.nan), torch.tensor([True, False, False, False])
    loss, grad_N = run(build_loss(name, **POLICY[name]), lp_N, q_N, a_N, mask_N)
    alone, _ = run(build_loss(name, **POLICY[name]), lp_N[:1], q_N[:1], a_N[:1], mask_N[:1])
    assert loss == alone
    assert grad_N[1:].tolist() == [0.0, 0.0, 0.0]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-30, 0), st.floats(-3, 3), st.booleans()), min_size=1, max_size=12)
)
def test_on_policy_all_are_reinforce(tokens: list[tuple[float, float, bool]]) -> None:
    lp_N, a_N = vector(*[t[0] for t in tokens]), vector(*[t[1] for t in tokens])
    mask_N = torch.tensor([t[2] for t in tokens])
    for name, options in POLICY.items():
        _, grad_N = run(build_loss(name, **options), lp_N, lp_N, a_N, mask_N)
        torch.testing.assert_close(grad_N, torch.where(mask_N, -a_N, 0.0), rtol=0, atol=1e-12)


TOKEN = st.tuples(
    st.floats(-20, 0), st.floats(-20, 0), st.floats(-3, 3), st.booleans(), st.integers(0, 3)
)


@settings(deadline=None)
@given(st.lists(TOKEN, min_size=1, max_size=12))
def test_masked_tokens_are_as_good_as_absent(
    tokens: list[tuple[float, float, float, bool, int]],
) -> None:
    """Checks for every loss that masked tokens have no gradient and no effect on the value."""
    lp_N, q_N, a_N = (vector(*[float(t[n]) for t in tokens]) for n in range(3))
    mask_N, rows_N = torch.tensor([t[3] for t in tokens]), torch.tensor([t[4] for t in tokens])

    def run_on(name: str, keep_N: Tensor) -> tuple[float, Tensor]:
        leaf_N = lp_N[keep_N].clone().requires_grad_()
        inputs = LossInputs(
            leaf_N, q_N[keep_N], a_N[keep_N], mask_N[keep_N], rows_N[keep_N], leaf_N - 1
        )
        total = build_loss(name, **POLICY.get(name, {}))(inputs).total
        (grad_N,) = torch.autograd.grad(total, leaf_N)
        return float(total.detach()), grad_N

    for name in LOSSES:
        value, grad_N = run_on(name, torch.ones_like(mask_N))
        alone, alone_N = run_on(name, mask_N)
        assert value == pytest.approx(alone, rel=1e-9, abs=1e-9), name
        assert not grad_N[~mask_N].any(), name
        torch.testing.assert_close(grad_N[mask_N], alone_N, rtol=1e-9, atol=1e-9)


@cases("name", ["importance_sampling", "ppo"])
def test_a_runaway_ratio_stays_finite_and_without_gradient(name: str) -> None:
    lp_N, q_N = vector(0.0, -900.0), vector(-900.0, 0.0)
    loss, grad_N = run(
        build_loss(name), lp_N, q_N, vector(-1.0, 1.0), torch.ones(2, dtype=torch.bool)
    )
    assert math.isfinite(loss)
    assert grad_N.tolist() == [0.0, 0.0]


def test_a_runaway_ratio_is_bounded_by_cispo_and_pulled_back_by_dro() -> None:
    lp_N, q_N = vector(0.0, -900.0), vector(-900.0, 0.0)
    a_N, everything = vector(-1.0, 1.0), torch.ones(2, dtype=torch.bool)
    _, grad_N = run(build_loss("cispo"), lp_N, q_N, a_N, everything)
    assert grad_N.tolist() == [4.0, pytest.approx(0.0, abs=1e-8)]
    assert call(build_loss("cispo"), lp_N, q_N, a_N, everything).clipped_N.all()
    _, grad_N = run(build_loss("dro", beta=0.1), lp_N, q_N, a_N, everything)
    assert grad_N.tolist() == [pytest.approx(1 + 90), pytest.approx(-1 - 90)]


@pytest.mark.parametrize(
    ("name", "options", "option"),
    [
        ("ppo", {"beta": 1}, "beta"),
        ("ppo", {"epsilon": 1.5}, "epsilon"),
        ("ppo", {"dual_clip": 1.0}, "dual_clip"),
        ("dro", {}, "beta"),
        ("dro", {"beta": 0}, "beta"),
        ("cispo", {"low": 1.5}, "low"),
    ],
)
def test_unknown_options_and_values_are_refused(
    name: str, options: dict[str, float], option: str
) -> None:
    with pytest.raises(ValueError, match=option):
        build_loss(name, **options)
