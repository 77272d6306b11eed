"""Helpers for masked tokens, which contribute nothing to a loss."""

import torch
from torch import Tensor

from workers.learning.losses.contract import LossInputs


def zero_masked(values_N: Tensor, mask_N: Tensor) -> Tensor:
    """Returns `values_N` with 0 and no gradient at masked tokens, even if the value is NaN."""
    return torch.where(mask_N, values_N, 0.0)


def never_clipped(inputs: LossInputs) -> Tensor:
    """Returns the `LossTerms.clipped_N` of a loss that never clips a gradient: all false."""
    return torch.zeros_like(inputs.mask_N, dtype=torch.bool)
