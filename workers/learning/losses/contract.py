"""The interface of every loss.

A loss is a pure function of parallel tensors of N tokens. It returns the **sum** over its trained
tokens, or over its examples if an example has two rows (a preference pair); the caller divides by
one global denominator per optimizer step. Masked tokens (mask 0) contribute neither value nor
gradient, even if their inputs are not finite.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from app.jobs.modes import MAX_LOG_RATIO
from app.rollouts import metrics as names


@dataclass(frozen=True, slots=True)
class LossInputs:
    """Inputs of one micro-batch. Only `logprobs_N` and `mean_logprobs_N` carry gradient."""

    logprobs_N: Tensor
    """Natural log of the target's probability under the trained policy."""
    sampler_logprobs_N: Tensor
    """The same under the sampling policy; for preference losses, under the frozen reference."""
    advantages_N: Tensor
    mask_N: Tensor
    """Boolean; true for trained tokens."""
    rows_N: Tensor
    """Row of each token in the micro-batch. Rows of one example are adjacent: row 2k of a pair is
    the chosen sequence and row 2k + 1 the rejected one."""
    mean_logprobs_N: Tensor | None = None
    """Mean log-prob over the vocabulary, for losses that set `needs_vocabulary`."""


@dataclass(frozen=True, slots=True)
class LossTerms:
    """Value of a loss over one micro-batch. `total` is a scalar with gradient; `clipped_N` (bool)
    marks trained tokens whose gradient the loss set to 0 or bounded. `sums` maps curve names to
    scalars, which are reported divided by the loss's denominator.
    """

    total: Tensor
    clipped_N: Tensor
    sums: Mapping[str, Tensor] = field(default_factory=dict)


class Loss(Protocol):
    """A class of options of `app.jobs.losses`, which says what the loss needs, with its value."""

    rows_per_example: ClassVar[int]
    needs_vocabulary: ClassVar[bool]
    uses_zero_advantage_tokens: ClassVar[bool]

    def __call__(self, inputs: LossInputs) -> LossTerms: ...


def zero_masked(values_N: Tensor, mask_N: Tensor) -> Tensor:
    """Returns `values_N` with 0 and no gradient at masked tokens, even if the value is NaN."""
    return torch.where(mask_N, values_N, 0.0)


def never_clipped(inputs: LossInputs) -> Tensor:
    """Returns the `LossTerms.clipped_N` of a loss that never clips a gradient: all false."""
    return torch.zeros_like(inputs.mask_N, dtype=torch.bool)


def log_ratio(logprobs_N: Tensor, sampler_logprobs_N: Tensor, mask_N: Tensor) -> Tensor:
    """Returns log r = lp - q, clamped; masked tokens get 0 and no gradient, even for NaN."""
    raw_N = torch.where(mask_N, logprobs_N - sampler_logprobs_N, 0.0)
    return raw_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def out_of_range(log_ratio_N: Tensor) -> Tensor:
    return log_ratio_N.detach().abs() >= MAX_LOG_RATIO


@dataclass(frozen=True, slots=True)
class PairScores:
    """Scores of each pair, with gradient; `present_P` (bool) marks pairs with a trained token."""

    chosen_P: Tensor
    rejected_P: Tensor
    present_P: Tensor


def pair_scores(values_N: Tensor, inputs: LossInputs, *, mean: bool = False) -> PairScores:
    """Returns the sum or mean of `values_N` over each row's trained tokens; 0 for a row without."""
    pairs = int(inputs.rows_N.max()) // 2 + 1 if inputs.rows_N.numel() else 0
    empty_R = torch.zeros(2 * pairs, dtype=values_N.dtype, device=values_N.device)
    sums_R = empty_R.index_add(0, inputs.rows_N, zero_masked(values_N, inputs.mask_N))
    counts_R = empty_R.index_add(0, inputs.rows_N, inputs.mask_N.to(values_N.dtype))
    scores_R = sums_R / counts_R.clamp_min(1.0) if mean else sums_R
    scores_P2, counts_P2 = scores_R.view(pairs, 2), counts_R.view(pairs, 2)
    return PairScores(scores_P2[:, 0], scores_P2[:, 1], counts_P2.sum(dim=1) > 0)


@torch.no_grad()
def preference_sums(rewards: PairScores, inputs: LossInputs) -> dict[str, Tensor]:
    """Returns sums over the pairs by curve name: how often the chosen sequence has the higher
    implicit reward, the margin, and the reward of each; then how often the chosen sequence is the
    more probable one by itself, and the log-prob of each.
    """
    logprobs = pair_scores(inputs.logprobs_N, inputs)
    margin_P, order_P = _margin(rewards), _margin(logprobs)
    return {
        names.PREFERENCE_ACCURACY: (margin_P > 0).to(margin_P.dtype).sum(),
        names.PREFERENCE_MARGIN: margin_P.sum(),
        names.PREFERENCE_CHOSEN_REWARD: zero_masked(rewards.chosen_P, rewards.present_P).sum(),
        names.PREFERENCE_REJECTED_REWARD: zero_masked(rewards.rejected_P, rewards.present_P).sum(),
        names.PREFERENCE_LOGPROB_ACCURACY: (order_P > 0).to(order_P.dtype).sum(),
        names.PREFERENCE_CHOSEN_LOGPROB: zero_masked(logprobs.chosen_P, logprobs.present_P).sum(),
        names.PREFERENCE_REJECTED_LOGPROB: zero_masked(
            logprobs.rejected_P, logprobs.present_P
        ).sum(),
    }


def _margin(scores: PairScores) -> Tensor:
    return zero_masked(scores.chosen_P - scores.rejected_P, scores.present_P)
