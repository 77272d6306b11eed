"""Cross-entropy against targets with a share ε spread evenly over the vocabulary.

L = Σ w·((1-ε)·(-lp) + ε·(-mean_v lp_v)), so for the logits z of one token
∂L/∂z_v = w·(p_v - (1-ε)·[v = y] - ε/V). Source: Szegedy et al., arXiv 1512.00567.
"""

import torch

from app.jobs.losses import LabelSmoothingOptions
from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked


class Loss(LabelSmoothingOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        if inputs.mean_logprobs_N is None:
            raise ValueError("label smoothing requires the mean over the vocabulary")
        target_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        mean_N = zero_masked(inputs.mean_logprobs_N, inputs.mask_N)
        smoothed_N = (1.0 - self.smoothing) * target_N + self.smoothing * mean_N
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        return LossTerms(
            -torch.dot(weights_N.to(target_N.dtype), smoothed_N), never_clipped(inputs)
        )
