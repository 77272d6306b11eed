"""Cross-entropy on supervised data.

L = -Σ w·lp, so ∂L/∂lp = -w, with a token's weight w in the place of its advantage; any real number,
0 included.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch

from workers.learning.losses.contract import LossInputs, LossTerms
from workers.learning.losses.masks import kept, never_clipped


@dataclass(frozen=True, slots=True)
class CrossEntropy:
    rows_per_example: ClassVar[int] = 1
    needs_vocabulary: ClassVar[bool] = False
    uses_zero_advantage_tokens: ClassVar[bool] = False

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = kept(inputs.logprobs_N, inputs.mask_N)
        weights_N = kept(inputs.advantages_N, inputs.mask_N)
        return LossTerms(
            -torch.dot(weights_N.to(logprobs_N.dtype), logprobs_N), never_clipped(inputs)
        )
