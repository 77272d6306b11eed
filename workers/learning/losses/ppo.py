"""The clipped surrogate loss of PPO.

L = -Σ min(r·A, clip(r, 1-ε, 1+ε_high)·A) with r = exp(lp - q), so ∂L/∂lp = -r·A, or 0 where
(A > 0 and r > 1+ε_high) or (A < 0 and r < 1-ε). Source: Schulman et al., arXiv 1707.06347; the
separate upper bound ("clip higher", 0.28) is DAPO's, arXiv 2503.14476. With a dual clip c the term
for A < 0 is at most -c·A and has no gradient at r > c: Ye et al., arXiv 1912.09729.
"""

import torch

from app.jobs.losses import PpoOptions
from workers.learning.losses.contract import LossInputs, LossTerms, log_ratio, out_of_range


class Loss(PpoOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        ratio_N = log_ratio_N.exp()
        advantages_N = torch.where(inputs.mask_N, inputs.advantages_N, 0.0)
        bounded_N = ratio_N.clamp(1.0 - self.epsilon, 1.0 + high)
        surrogate_N = torch.minimum(ratio_N * advantages_N, bounded_N * advantages_N)
        clipped_N = ((advantages_N > 0) & (ratio_N > 1.0 + high)) | (
            (advantages_N < 0) & (ratio_N < 1.0 - self.epsilon)
        )
        if self.dual_clip is not None:
            floor_N = torch.where(advantages_N < 0, self.dual_clip * advantages_N, -torch.inf)
            surrogate_N = torch.maximum(surrogate_N, floor_N)
            clipped_N |= (advantages_N < 0) & (ratio_N > self.dual_clip)
        return LossTerms(-surrogate_N.sum(), clipped_N | out_of_range(log_ratio_N))
