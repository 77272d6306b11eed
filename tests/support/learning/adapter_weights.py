"""Comparisons of the weights of adapters."""

import torch


def distance(adapter: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """Returns the largest difference of a weight. Two fresh adapters differ by 0.1 and more."""
    return max(float((adapter[name] - other[name]).abs().max()) for name in adapter)
