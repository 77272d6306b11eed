"""Sequence scores and metrics that preference losses share.

Row 2k is the chosen sequence of pair k and row 2k + 1 the rejected one. Promises: a pair without a
trained token contributes nothing.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.domain.rollouts import metrics as names
from workers.learning.losses.contract import LossInputs
from workers.learning.losses.masks import zero_masked


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
