"""The importance ratio that policy-gradient losses share."""

import torch
from torch import Tensor

from app.domain.methods.mismatch import MAX_LOG_RATIO


def log_ratio(logprobs_N: Tensor, sampler_logprobs_N: Tensor, mask_N: Tensor) -> Tensor:
    """Returns log r = lp - q, clamped; masked tokens get 0 and no gradient, even for NaN."""
    raw_N = torch.where(mask_N, logprobs_N - sampler_logprobs_N, 0.0)
    return raw_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def out_of_range(log_ratio_N: Tensor) -> Tensor:
    return log_ratio_N.detach().abs() >= MAX_LOG_RATIO
