"""Pairs of sequences, and what losses of pairs report.

Row 2k is the chosen one of pair k and row 2k + 1 the rejected one. Promises: a pair of which no
token is trained counts for nothing.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.domain.rollouts import metrics as names
from workers.learning.losses.contract import LossInputs
from workers.learning.losses.masks import kept


@dataclass(frozen=True, slots=True)
class PairScores:
    """One number per pair, with gradient; `present_P` (bool) marks pairs with a trained token."""

    chosen_P: Tensor
    rejected_P: Tensor
    present_P: Tensor


def pair_scores(values_N: Tensor, inputs: LossInputs, *, mean: bool = False) -> PairScores:
    """Per row the sum, or the mean, of `values_N` over its trained tokens; 0 where none is."""
    pairs = int(inputs.rows_N.max()) // 2 + 1 if inputs.rows_N.numel() else 0
    empty_R = torch.zeros(2 * pairs, dtype=values_N.dtype, device=values_N.device)
    sums_R = empty_R.index_add(0, inputs.rows_N, kept(values_N, inputs.mask_N))
    counts_R = empty_R.index_add(0, inputs.rows_N, inputs.mask_N.to(values_N.dtype))
    scores_R = sums_R / counts_R.clamp_min(1.0) if mean else sums_R
    scores_P2, counts_P2 = scores_R.view(pairs, 2), counts_R.view(pairs, 2)
    return PairScores(scores_P2[:, 0], scores_P2[:, 1], counts_P2.sum(dim=1) > 0)


@torch.no_grad()
def preference_sums(rewards: PairScores) -> dict[str, Tensor]:
    """Sums over the pairs, by curve name, of implicit rewards: how often the chosen one has the
    higher one, by how much, and both.
    """
    margin_P = kept(rewards.chosen_P - rewards.rejected_P, rewards.present_P)
    return {
        names.PREFERENCE_ACCURACY: (margin_P > 0).to(margin_P.dtype).sum(),
        names.PREFERENCE_MARGIN: margin_P.sum(),
        names.PREFERENCE_CHOSEN_REWARD: kept(rewards.chosen_P, rewards.present_P).sum(),
        names.PREFERENCE_REJECTED_REWARD: kept(rewards.rejected_P, rewards.present_P).sum(),
    }
