"""Masked tokens, which losses leave out."""

import torch
from torch import Tensor

from workers.learning.losses.contract import LossInputs


def kept(values_N: Tensor, mask_N: Tensor) -> Tensor:
    """0 and without gradient where masked, so that not even a NaN leaks through."""
    return torch.where(mask_N, values_N, 0.0)


def never_clipped(inputs: LossInputs) -> Tensor:
    """`LossTerms.clipped_N` of a loss that switches no gradient off."""
    return torch.zeros_like(inputs.mask_N, dtype=torch.bool)
