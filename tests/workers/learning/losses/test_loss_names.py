"""Every loss that a job may name has its file, and its gradient is the derivative of its value."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from pydantic import TypeAdapter

from app.jobs.losses import LOSSES, PolicyLoss, PreferenceLoss, SupervisedLoss
from workers.learning.losses import LossInputs, build_loss

REQUIRED: dict[str, dict[str, float]] = {"dro": {"beta": 0.05}}
"""Options without a default."""
STOPS_GRADIENT = {"cispo"}
"""Losses that keep the gradient of a ratio back, so that it is not the derivative."""


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - STOPS_GRADIENT))
def test_gradient_equals_finite_differences(name: str) -> None:
    """On two pairs of two tokens each; the last token is masked."""
    loss = build_loss(name, **REQUIRED.get(name, {}))
    lp_N = torch.linspace(-3.0, -0.4, 8, dtype=torch.double)
    inputs = LossInputs(
        lp_N,
        sampler_logprobs_N=lp_N + torch.linspace(-0.31, 0.3, 8, dtype=torch.double),
        advantages_N=torch.linspace(-1.5, 2.0, 8, dtype=torch.double),
        mask_N=torch.tensor([True] * 7 + [False]),
        rows_N=torch.tensor([0, 0, 1, 1, 2, 2, 3, 3]),
    )

    def value(logprobs_N: torch.Tensor) -> torch.Tensor:
        changed = replace(inputs, logprobs_N=logprobs_N, mean_logprobs_N=logprobs_N * 1.5)
        return loss(changed).total

    assert torch.autograd.gradcheck(value, lp_N.clone().requires_grad_())


@pytest.mark.parametrize("union", [SupervisedLoss, PreferenceLoss, PolicyLoss])
def test_a_loss_is_read_by_its_name(union: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(union)
    with pytest.raises(ValueError, match=r"there are \w+, \w+") as refused:
        adapter.validate_python({"type": "none"})
    names = str(refused.value).partition("there are ")[2].partition(" [")[0].split(", ")
    for name in names:
        assert (
            type(adapter.validate_python({"type": name, **REQUIRED.get(name, {})}))
            is (LOSSES[name])
        )


def test_no_loss_is_missing() -> None:
    assert len(LOSSES) > 8
