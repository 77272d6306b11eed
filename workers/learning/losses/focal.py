"""Focal loss: cross-entropy that gives a token less weight the higher its probability is.

L = -Σ w·(1-p)^γ·lp with p = exp(lp), so ∂L/∂lp = w·(1-p)^(γ-1)·(γ·p·lp - (1-p)); γ = 0 is
cross-entropy. Source: Lin et al., arXiv 1708.02002, without its class weight.
"""

from typing import Final

import torch

from app.jobs.losses import FocalOptions
from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked

MIN_COMPLEMENT: Final = 1e-12
"""Lower bound of 1 - p: the derivative of (1-p)^γ at 1 - p = 0 is infinite for γ < 1."""


class Loss(FocalOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        complement_N = (-torch.expm1(logprobs_N)).clamp_min(MIN_COMPLEMENT)
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N).to(logprobs_N.dtype)
        return LossTerms(
            -(weights_N * complement_N.pow(self.gamma) * logprobs_N).sum(), never_clipped(inputs)
        )
