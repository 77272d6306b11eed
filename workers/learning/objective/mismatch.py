"""Corrects the mismatch between sampler and trainer: tokens sampled by an older version, or by the
same version in another engine's arithmetic.

With the log-ratio d = old - q, where `old` is the trained policy before the step and q the sampling
policy:
- truncation multiplies a token's advantage by sg(min(exp(d), C)), or by sg(min(exp(Σ d), C)) of its
  sequence. The loss's ratio is then relative to `old`: otherwise the mismatch would count twice.
  Source: truncated importance sampling (Ionides 2008) as in verl's rollout correction.
- a sequence mask masks every token of a sequence whose exp(mean d) (geometric mean) or
  exp(Σ d) (product) lies outside a band.
- a token with |d| greater than `max_log_ratio` is masked.

Reduction: masked tokens add nothing to the sum over tokens but count in the single denominator of
the step, which is fixed before any forward pass. Must not know losses or models.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from app.domain.methods.mismatch import MAX_LOG_RATIO
from workers.learning.losses.contract import LossInputs
from workers.learning.losses.masks import zero_masked
from workers.learning.mismatch_config import MismatchConfig


@dataclass(frozen=True, slots=True)
class CorrectedInputs:
    """Corrected inputs of the loss, and the trained tokens (bool) that were masked or truncated."""

    inputs: LossInputs
    masked_N: Tensor
    truncated_N: Tensor


@torch.no_grad()
def correct(inputs: LossInputs, config: MismatchConfig) -> CorrectedInputs:
    """Returns `inputs` with corrected mask, advantages and sampler log-probs. Takes the log-probs
    of `inputs` as those of the policy before the step, as in every forward pass of that step.
    """
    old_N = inputs.logprobs_N.detach()
    log_ratio_N = zero_masked(old_N - inputs.sampler_logprobs_N, inputs.mask_N)
    retained_N = inputs.mask_N & (log_ratio_N.abs() <= config.max_log_ratio)
    if config.sequence_mask is not None:
        mean = config.sequence_mask == "geometric_mean"
        retained_N &= _within(_by_row(log_ratio_N, inputs, mean=mean), config.band)
    masked_N = inputs.mask_N & ~retained_N
    truncated_N = torch.zeros_like(retained_N)
    corrected = replace(inputs, mask_N=retained_N)
    if config.truncation is not None:
        if config.truncation == "sequence":
            log_ratio_N = _by_row(log_ratio_N, inputs, mean=False)
        ratio_N = log_ratio_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
        truncated_N = retained_N & (ratio_N > config.cap)
        weights_N = ratio_N.clamp(max=config.cap).to(inputs.advantages_N.dtype)
        corrected = replace(
            corrected,
            sampler_logprobs_N=old_N,
            advantages_N=inputs.advantages_N * weights_N,
        )
    return CorrectedInputs(corrected, masked_N, truncated_N)


def _by_row(log_ratio_N: Tensor, inputs: LossInputs, *, mean: bool) -> Tensor:
    """Returns for every token the sum or mean over the trained tokens of its row."""
    rows = int(inputs.rows_N.max()) + 1 if inputs.rows_N.numel() else 0
    empty_R = log_ratio_N.new_zeros(rows)
    sums_R = empty_R.index_add(0, inputs.rows_N, log_ratio_N)
    if mean:
        counts_R = empty_R.index_add(0, inputs.rows_N, inputs.mask_N.to(log_ratio_N.dtype))
        sums_R = sums_R / counts_R.clamp_min(1.0)
    return sums_R[inputs.rows_N]


def _within(log_ratio_N: Tensor, band: tuple[float, float]) -> Tensor:
    ratio_N = log_ratio_N.double().exp()
    return (ratio_N >= band[0]) & (ratio_N <= band[1])
