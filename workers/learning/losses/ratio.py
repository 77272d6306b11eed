"""The contract every loss keeps, and the importance ratio they share.

A loss is a pure function of four parallel float tensors of N tokens. It returns the **sum** over
masked tokens; whoever calls it divides by one global denominator per optimizer step. Masked tokens
(mask 0) contribute neither value nor gradient, whatever stands on them.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

MAX_LOG_RATIO: Final = 20.0
"""Log-ratios are clamped to ±20 before exp (as in verl): beyond, the gradient is 0, not inf."""


@dataclass(frozen=True, slots=True)
class LossTerms:
    """`total` is a scalar with gradient; `clipped_N` (bool) marks trained tokens whose gradient
    the loss has switched off.
    """

    total: Tensor
    clipped_N: Tensor


class Loss(Protocol):
    def __call__(
        self,
        logprobs_N: Tensor,
        sampler_logprobs_N: Tensor,
        advantages_N: Tensor,
        *,
        mask_N: Tensor,
    ) -> LossTerms:
        """`logprobs_N` carries gradient; the others do not. `mask_N` is boolean."""
        ...


def log_ratio(logprobs_N: Tensor, sampler_logprobs_N: Tensor, mask_N: Tensor) -> Tensor:
    """Clamped log r = lp - q; 0 and without gradient where masked, so no NaN leaks through."""
    raw_N = torch.where(mask_N, logprobs_N - sampler_logprobs_N, 0.0)
    return raw_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def out_of_range(log_ratio_N: Tensor) -> Tensor:
    return log_ratio_N.detach().abs() >= MAX_LOG_RATIO
