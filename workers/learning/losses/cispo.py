"""CISPO: REINFORCE weighted by a clipped importance ratio that carries no gradient.

L = -Σ sg(clip(r, low, high))·lp·A with r = exp(lp - q), so ∂L/∂lp = -clip(r)·A: unlike PPO, no
token loses its gradient. Source: MiniMax-M1, arXiv 2506.13585. `low` is 0 by default: a
positive bound keeps a gradient on tokens whose probability the policy has already reduced.
"""

from app.jobs.losses import CispoOptions
from workers.learning.losses.contract import (
    LossInputs,
    LossTerms,
    log_ratio,
    out_of_range,
    zero_masked,
)


class Loss(CispoOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        ratio_N = log_ratio_N.detach().exp()
        advantages_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        weights_N = ratio_N.clamp(self.low, self.high) * advantages_N
        total = -(weights_N * zero_masked(inputs.logprobs_N, inputs.mask_N)).sum()
        bounded_N = (ratio_N < self.low) | (ratio_N > self.high)
        return LossTerms(total, bounded_N | out_of_range(log_ratio_N))
