"""Cross-entropy against targets with a share ε spread evenly over the vocabulary.

L = Σ w·((1-ε)·(-lp) + ε·(-mean_v lp_v)), so for the logits z of one token
∂L/∂z_v = w·(p_v - (1-ε)·[v = y] - ε/V). Source: Szegedy et al., arXiv 1512.00567.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch

from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked


@dataclass(frozen=True, slots=True)
class LabelSmoothing:
    """Raises `ValueError` outside 0 ≤ ε < 1."""

    rows_per_example: ClassVar[int] = 1
    needs_vocabulary: ClassVar[bool] = True
    uses_zero_advantage_tokens: ClassVar[bool] = False

    smoothing: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < 1:
            raise ValueError("smoothing must be at least 0 and below 1")

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
