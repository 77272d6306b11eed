"""The cross-entropy loss on supervised data.

L = -Σ w·lp, so ∂L/∂lp = -w, with a token's weight w in place of its advantage: any real number,
including 0.
"""

import torch

from app.jobs.losses import CrossEntropyOptions
from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked


class Loss(CrossEntropyOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        return LossTerms(
            -torch.dot(weights_N.to(logprobs_N.dtype), logprobs_N), never_clipped(inputs)
        )
