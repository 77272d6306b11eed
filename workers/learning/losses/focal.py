"""Focal loss: cross-entropy that gives a token less weight the higher its probability is.

L = -Σ w·(1-p)^γ·lp with p = exp(lp), so ∂L/∂lp = w·(1-p)^(γ-1)·(γ·p·lp - (1-p)); γ = 0 is
cross-entropy. Source: Lin et al., arXiv 1708.02002, without its class weight.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import torch

from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked

MIN_COMPLEMENT: Final = 1e-12
"""Lower bound of 1 - p: the derivative of (1-p)^γ at 1 - p = 0 is infinite for γ < 1."""


@dataclass(frozen=True, slots=True)
class Focal:
    """Raises `ValueError` on a negative γ."""

    rows_per_example: ClassVar[int] = 1
    needs_vocabulary: ClassVar[bool] = False
    uses_zero_advantage_tokens: ClassVar[bool] = False

    gamma: float = 2.0

    def __post_init__(self) -> None:
        if self.gamma < 0:
            raise ValueError("gamma must not be negative")

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        complement_N = (-torch.expm1(logprobs_N)).clamp_min(MIN_COMPLEMENT)
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N).to(logprobs_N.dtype)
        return LossTerms(
            -(weights_N * complement_N.pow(self.gamma) * logprobs_N).sum(), never_clipped(inputs)
        )
