import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from app.rollouts import metrics as names
from tests.support.cases import cases
from workers.learning.losses import LossInputs, LossTerms, build_loss

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("dpo", {}),
    ("dpo", {"beta": 0.5, "label_smoothing": 0.1}),
    ("dpo", {"variant": "ipo"}),
    ("bradley_terry", {}),
    ("bradley_terry", {"margin": 0.5, "length_normalised": True}),
]
# Two pairs; rows of 2, 1, 1 and 3 tokens, the last token of row 3 masked.
ROWS = torch.tensor([0, 0, 1, 2, 3, 3, 3])
MASK = torch.tensor([True] * 6 + [False])


def vector(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


LP = vector(-1.0, -2.0, -0.5, -4.0, -1.5, -0.25, -9.0)
REF = vector(-1.5, -2.5, -0.25, -3.0, -2.0, -0.75, -1.0)
CHOSEN = [1.0, -1.0]
"""Sums of lp - ref for each pair; likewise for the rejected sequences."""
REJECTED = [-0.25, 1.0]


def run(
    name: str,
    options: dict[str, Any],
    *,
    lp_N: Tensor = LP,
    ref_N: Tensor = REF,
    mask_N: Tensor = MASK,
) -> tuple[LossTerms, Tensor]:
    lp_N = lp_N.clone().requires_grad_()
    rows_N = ROWS[: len(lp_N)]
    terms = build_loss(name, **options)(
        LossInputs(lp_N, ref_N, torch.ones_like(lp_N), mask_N, rows_N)
    )
    (grad_N,) = torch.autograd.grad(terms.total, lp_N)
    return terms, grad_N


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@cases(("beta", "wrong"), [(0.1, 0.0), (0.5, 0.0), (0.5, 0.2)])
def test_dpo_values_and_gradient(beta: float, wrong: float) -> None:
    terms, grad_N = run("dpo", {"beta": beta, "label_smoothing": wrong})
    expected, slopes = 0.0, []
    for c, r in zip(CHOSEN, REJECTED, strict=True):
        h = beta * (c - r)
        expected += -(1 - wrong) * math.log(sigma(h)) - wrong * math.log(sigma(-h))
        slopes.append(-beta * ((1 - wrong) * sigma(-h) - wrong * sigma(h)))
    assert float(terms.total.detach()) == pytest.approx(expected)
    a, b = slopes
    torch.testing.assert_close(grad_N, vector(a, a, -a, b, -b, -b, 0.0), rtol=0, atol=1e-12)
    assert not terms.clipped_N.any()


def test_ipo_compares_means_over_tokens() -> None:
    terms, grad_N = run("dpo", {"variant": "ipo", "beta": 0.25})
    d = [1.0 / 2 + 0.25, -1.0 - 1.0 / 2]
    assert float(terms.total.detach()) == pytest.approx(sum((x - 2.0) ** 2 for x in d))
    a, b = (2 * (x - 2.0) for x in d)
    expected_N = vector(a / 2, a / 2, -a, b, -b / 2, -b / 2, 0.0)
    torch.testing.assert_close(grad_N, expected_N, rtol=0, atol=1e-12)


@cases("margin", [0.0, 0.75])
def test_bradley_terry_values_and_gradient(margin: float) -> None:
    terms, grad_N = run("bradley_terry", {"margin": margin})
    d = [-3.0 + 0.5 - margin, -4.0 + 1.75 - margin]
    assert float(terms.total.detach()) == pytest.approx(-sum(math.log(sigma(x)) for x in d))
    a, b = (-sigma(-x) for x in d)
    torch.testing.assert_close(grad_N, vector(a, a, -a, b, -b, -b, 0.0), rtol=0, atol=1e-12)
    terms, grad_N = run("bradley_terry", {"margin": margin, "length_normalised": True})
    d = [-1.5 + 0.5 - margin, -4.0 + 0.875 - margin]
    assert float(terms.total.detach()) == pytest.approx(-sum(math.log(sigma(x)) for x in d))
    assert float(grad_N[0]) == pytest.approx(-sigma(-d[0]) / 2)


def test_what_is_reported() -> None:
    for variant in ("sigmoid", "ipo"):
        sums = run("dpo", {"beta": 0.5, "variant": variant})[0].sums
        assert {name: float(value) for name, value in sums.items()} == {
            names.PREFERENCE_ACCURACY: 1.0,
            names.PREFERENCE_MARGIN: pytest.approx(0.5 * (1.25 - 2.0)),
            names.PREFERENCE_CHOSEN_REWARD: pytest.approx(0.0),
            names.PREFERENCE_REJECTED_REWARD: pytest.approx(0.5 * 0.75),
            names.PREFERENCE_LOGPROB_ACCURACY: 0.0,
            names.PREFERENCE_CHOSEN_LOGPROB: pytest.approx(-3.0 - 4.0),
            names.PREFERENCE_REJECTED_LOGPROB: pytest.approx(-0.5 - 1.75),
        }
        assert not any(value.requires_grad for value in sums.values())


@cases(("name", "options"), KINDS)
def test_gradient_equals_finite_differences(name: str, options: dict[str, Any]) -> None:
    _, grad_N = run(name, options)
    for index in range(len(LP)):
        step_N = torch.zeros_like(LP)
        step_N[index] = 1e-6
        above = float(run(name, options, lp_N=LP + step_N)[0].total.detach())
        below = float(run(name, options, lp_N=LP - step_N)[0].total.detach())
        assert float(grad_N[index]) == pytest.approx((above - below) / 2e-6, abs=1e-7)


@cases(("name", "options"), KINDS)
def test_masked_tokens_and_pairs_weigh_nothing(name: str, options: dict[str, Any]) -> None:
    """Tests a masked token of a pair, and a pair whose tokens are all masked."""
    lp_N, ref_N = LP.clone(), REF.clone()
    lp_N[3:], ref_N[4] = math.nan, math.inf
    mask_N = torch.tensor([True] * 3 + [False] * 4)
    terms, grad_N = run(name, options, lp_N=lp_N, ref_N=ref_N, mask_N=mask_N)
    alone, alone_N = run(name, options, lp_N=LP[:3], ref_N=REF[:3], mask_N=MASK[:3])
    assert float(terms.total.detach()) == float(alone.total.detach())
    assert grad_N.tolist() == [*alone_N.tolist(), 0.0, 0.0, 0.0, 0.0]
    assert {k: float(v) for k, v in terms.sums.items()} == {
        k: float(v) for k, v in alone.sums.items()
    }


@settings(deadline=None)
@given(
    shift=st.floats(-20, 20),
    lp=st.lists(st.floats(-20, 0), min_size=7, max_size=7),
    kind=st.sampled_from([kind for kind in KINDS if kind[0] == "dpo"]),
)
def test_dpo_sees_only_the_distance_from_the_reference(
    shift: float, lp: list[float], kind: tuple[str, dict[str, Any]]
) -> None:
    lp_N = vector(*lp)
    plain, plain_N = run(*kind, lp_N=lp_N)
    moved, moved_N = run(*kind, lp_N=lp_N + shift, ref_N=REF + shift)
    assert float(moved.total.detach()) == pytest.approx(float(plain.total.detach()), abs=1e-6)
    torch.testing.assert_close(moved_N, plain_N, rtol=0, atol=1e-7)


@settings(deadline=None)
@given(shift=st.floats(-20, 20), kind=st.sampled_from(KINDS))
def test_the_same_on_both_scores_changes_nothing(
    shift: float, kind: tuple[str, dict[str, Any]]
) -> None:
    """Adds a constant to both scores: divided among a row's trained tokens for sums, in full to
    each token for means.
    """
    mean = kind[1].get("length_normalised") or kind[1].get("variant") == "ipo"
    trained_N = torch.bincount(ROWS[MASK])[ROWS]
    added_N = torch.full_like(LP, shift) if mean else shift / trained_N
    plain, plain_N = run(*kind)
    moved, moved_N = run(*kind, lp_N=LP + added_N)
    assert float(moved.total.detach()) == pytest.approx(float(plain.total.detach()), abs=1e-9)
    torch.testing.assert_close(moved_N, plain_N, rtol=0, atol=1e-9)


def test_at_the_reference_dpo_is_indifferent() -> None:
    terms, grad_N = run("dpo", {"beta": 0.3}, lp_N=REF)
    assert float(terms.total.detach()) == pytest.approx(2 * math.log(2))
    assert grad_N[:3].tolist() == pytest.approx([-0.15, -0.15, 0.15])
    assert float(terms.sums[names.PREFERENCE_ACCURACY]) == 0.0


def test_the_order_by_logprob_needs_no_reference() -> None:
    ref_N = REF.clone()
    ref_N[2] = -9.0
    sums = run("dpo", {}, lp_N=ref_N, ref_N=ref_N)[0].sums
    assert float(sums[names.PREFERENCE_ACCURACY]) == 0.0, "the reference against itself"
    assert float(sums[names.PREFERENCE_LOGPROB_ACCURACY]) == 1.0, "-4 over -9, -3 under -2.75"
    for normalised in (False, True):
        of_sums = run("bradley_terry", {"length_normalised": normalised}, lp_N=ref_N)[0].sums
        assert float(of_sums[names.PREFERENCE_CHOSEN_LOGPROB]) == pytest.approx(-4.0 - 3.0)


@cases(
    ("name", "options", "what"),
    [
        ("dpo", {"beta": 0.0}, "beta"),
        ("dpo", {"label_smoothing": 0.5}, "label_smoothing"),
        ("dpo", {"variant": "hinge"}, "variant"),
        ("dpo", {"variant": "ipo", "label_smoothing": 0.1}, "sigmoid"),
        ("bradley_terry", {"margin": -1.0}, "margin"),
    ],
)
def test_options_out_of_range_are_refused(name: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        build_loss(name, **options)
