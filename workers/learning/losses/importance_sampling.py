"""Unclipped importance-weighted policy gradient.

L = -Σ r·A with r = exp(lp - q), so ∂L/∂lp = -r·A; on-policy (r = 1) it is REINFORCE. Fit for
on-policy modes; off-policy it has no trust region. Source: `importance_sampling` of the tinker API.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from workers.learning.losses.ratio import LossTerms, log_ratio, out_of_range


@dataclass(frozen=True, slots=True)
class ImportanceSampling:
    def __call__(
        self,
        logprobs_N: Tensor,
        sampler_logprobs_N: Tensor,
        advantages_N: Tensor,
        *,
        mask_N: Tensor,
    ) -> LossTerms:
        log_ratio_N = log_ratio(logprobs_N, sampler_logprobs_N, mask_N)
        terms_N = -log_ratio_N.exp() * torch.where(mask_N, advantages_N, 0.0)
        return LossTerms(terms_N.sum(), out_of_range(log_ratio_N))
