import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.support.cases import cases
from workers.learning.batch_loss import CorrectedInputs, correct
from workers.learning.losses import LossInputs, build_loss
from workers.learning.trainer import MismatchConfig

# Row 0: log-ratios 0.1 and -0.1; row 1: 1 and 0.5; row 2: -2 and a masked token.
D = torch.tensor([0.1, -0.1, 1.0, 0.5, -2.0, 3.0], dtype=torch.float64)
ROWS = torch.tensor([0, 0, 1, 1, 2, 2])
MASK = torch.tensor([True] * 5 + [False])
Q = torch.tensor([-1.0, -2.0, -3.0, -4.0, -0.5, math.nan], dtype=torch.float64)
A = torch.tensor([1.0, 1.0, -0.5, -0.5, 2.0, math.nan], dtype=torch.float64)


def inputs(d_N: Tensor = D) -> LossInputs:
    return LossInputs((Q + d_N).requires_grad_(), Q, A, MASK, ROWS)


def done(d_N: Tensor = D, **config: Any) -> CorrectedInputs:
    return correct(inputs(d_N), MismatchConfig(**config))


def gradient(corrected: CorrectedInputs, loss: str = "ppo", **options: Any) -> list[float]:
    total = build_loss(loss, **options)(corrected.inputs).total
    (grad_N,) = torch.autograd.grad(total, corrected.inputs.logprobs_N)
    result: list[float] = grad_N.tolist()
    return result


def test_by_default_nothing_happens() -> None:
    corrected = done()
    assert corrected.inputs.mask_N.tolist() == MASK.tolist()
    assert corrected.inputs.sampler_logprobs_N is Q
    assert corrected.inputs.advantages_N is A
    assert not corrected.masked_N.any()
    assert not corrected.truncated_N.any()


@cases("loss", ["ppo", "importance_sampling", "cispo"])
def test_token_truncation_weighs_by_the_capped_ratio(loss: str) -> None:
    """The ratio of every loss starts at 1, so the mismatch counts once."""
    corrected = done(truncation="token", cap=1.2)
    weights = [min(math.exp(d), 1.2) for d in D[:5].tolist()]
    expected = [-w * a for w, a in zip(weights, A.tolist(), strict=False)]
    assert gradient(corrected, loss) == pytest.approx([*expected, 0.0])
    assert corrected.truncated_N.tolist() == [False, False, True, True, False, False]
    assert not corrected.masked_N.any()


def test_sequence_truncation_weighs_by_the_capped_product() -> None:
    corrected = done(truncation="sequence", cap=3.0)
    weights = [1.0, 1.0, 3.0, 3.0, math.exp(-2.0)]
    expected = [-w * a for w, a in zip(weights, A.tolist(), strict=False)]
    assert gradient(corrected, "importance_sampling") == pytest.approx([*expected, 0.0])
    assert corrected.truncated_N.tolist() == [False, False, True, True, False, False]


@cases(
    ("mask", "band", "kept_rows"),
    [
        ("geometric_mean", (0.99, 1.01), {0}),
        ("geometric_mean", (0.99, math.exp(0.76)), {0, 1}),
        ("geometric_mean", (0.1, 1.01), {0, 2}),
        ("product", (0.0, 3.0), {0, 2}),
        ("product", (0.0, math.exp(1.51)), {0, 1, 2}),
        ("product", (0.2, math.exp(1.49)), {0}),
    ],
)
def test_sequence_masks_leave_out_whole_rows(
    mask: str, band: tuple[float, float], kept_rows: set[int]
) -> None:
    corrected = done(sequence_mask=mask, band=band)
    expected = [row in kept_rows for row in ROWS.tolist()[:5]]
    assert corrected.inputs.mask_N.tolist() == [*expected, False]
    assert corrected.masked_N.tolist() == [*(not kept for kept in expected), False]
    for got, kept in zip(gradient(corrected, "importance_sampling"), expected, strict=False):
        assert (got != 0.0) == kept


def test_tokens_beyond_the_log_ratio_have_no_gradient() -> None:
    corrected = done(max_log_ratio=0.75)
    assert corrected.masked_N.tolist() == [False, False, True, False, True, False]
    grads = gradient(corrected, "importance_sampling")
    assert [g == 0.0 for g in grads] == [False, False, True, False, True, True]


def test_masks_and_truncation_go_together() -> None:
    corrected = done(truncation="token", cap=1.2, sequence_mask="product", band=(0.0, 3.0))
    grads = gradient(corrected, "ppo")
    expected = [-math.exp(0.1), -math.exp(-0.1), 0.0, 0.0, -2 * math.exp(-2.0), 0.0]
    assert grads == pytest.approx(expected)
    assert not corrected.truncated_N.any(), "what is left out is not weighed"


def test_a_runaway_sequence_stays_finite() -> None:
    far_N = torch.full((6,), 19.0, dtype=torch.float64)
    for level in ("token", "sequence"):
        corrected = done(far_N, truncation=level, cap=2.0)
        assert gradient(corrected, "importance_sampling")[:5] == pytest.approx(
            (-2.0 * A[:5]).tolist()
        )
    corrected = done(torch.full((6,), -1e4, dtype=torch.float64), truncation="sequence")
    assert corrected.masked_N.tolist() == MASK.tolist()
    assert gradient(corrected) == [0.0] * 6


@settings(deadline=None)
@given(
    logprobs=st.lists(st.floats(-30, 0), min_size=1, max_size=9),
    advantages=st.lists(st.floats(-3, 3), min_size=9, max_size=9),
    truncation=st.sampled_from([None, "token", "sequence"]),
    mask=st.sampled_from([None, "geometric_mean", "product"]),
)
def test_on_policy_nothing_is_changed(
    logprobs: list[float], advantages: list[float], truncation: Any, mask: Any
) -> None:
    lp_N = torch.tensor(logprobs, dtype=torch.float64)
    count = len(logprobs)
    a_N = torch.tensor(advantages[:count], dtype=torch.float64)
    whole = LossInputs(
        lp_N.clone().requires_grad_(),
        lp_N,
        a_N,
        torch.ones(count, dtype=torch.bool),
        torch.arange(count) // 2,
    )
    band = (0.99, 1.01)
    config = MismatchConfig(truncation=truncation, sequence_mask=mask, band=band)
    corrected = correct(whole, config)
    assert gradient(corrected) == pytest.approx([-a for a in a_N.tolist()])
    assert not (corrected.masked_N | corrected.truncated_N).any()
