"""The unclipped importance-weighted policy gradient loss.

L = -Σ r·A with r = exp(lp - q), so ∂L/∂lp = -r·A; on-policy (r = 1) it is REINFORCE. Suited to
on-policy modes; off-policy it has no trust region. Source: `importance_sampling` of the tinker API.
"""

import torch

from app.jobs.losses import ImportanceSamplingOptions
from workers.learning.losses.contract import LossInputs, LossTerms, log_ratio, out_of_range


class Loss(ImportanceSamplingOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        terms_N = -log_ratio_N.exp() * torch.where(inputs.mask_N, inputs.advantages_N, 0.0)
        return LossTerms(terms_N.sum(), out_of_range(log_ratio_N))
