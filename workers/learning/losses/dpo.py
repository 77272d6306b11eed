"""The direct preference optimisation (DPO) loss on sequence log-probs against a frozen reference.

With D = (lp_c - ref_c) - (lp_r - ref_r), sums over a completion's trained tokens:
- `sigmoid`: L = Σ -(1-ε)·logσ(β·D) - ε·logσ(-β·D), so
  ∂L/∂lp_c = -β·((1-ε)·σ(-β·D) - ε·σ(β·D)) and ∂L/∂lp_r is its negative. Source: Rafailov et al.,
  arXiv 2305.18290; ε, the share of pairs with swapped labels, is from conservative DPO.
- `ipo`: L = Σ (D - 1/(2β))² with means in place of the sums. Source: Azar et al., arXiv
  2310.12036; its authors used means; with sums the square would grow with length.

`LossInputs.sampler_logprobs_N` contains the reference's log-probs. Sums run over pairs.
"""

from typing import assert_never

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from app.jobs.losses import DpoOptions, Number
from workers.learning.losses.contract import (
    LossInputs,
    LossTerms,
    PairScores,
    never_clipped,
    pair_scores,
    preference_sums,
    zero_masked,
)


class Loss(DpoOptions):
    beta: Number = Field(default=0.1, gt=0)
    """A hyperparameter of the job, not an option of its loss."""

    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = zero_masked(inputs.logprobs_N - inputs.sampler_logprobs_N, inputs.mask_N)
        sums = pair_scores(log_ratio_N, inputs)
        match self.variant:
            case "ipo":
                terms_P = self._ipo(pair_scores(log_ratio_N, inputs, mean=True))
            case "sigmoid":
                terms_P = self._sigmoid(sums)
            case _:
                assert_never(self.variant)
        rewards = PairScores(self.beta * sums.chosen_P, self.beta * sums.rejected_P, sums.present_P)
        return LossTerms(
            zero_masked(terms_P, sums.present_P).sum(),
            never_clipped(inputs),
            preference_sums(rewards, inputs),
        )

    def _sigmoid(self, scores: PairScores) -> Tensor:
        margin_P = self.beta * (scores.chosen_P - scores.rejected_P)
        epsilon = self.label_smoothing
        return -(1.0 - epsilon) * logsigmoid(margin_P) - epsilon * logsigmoid(-margin_P)

    def _ipo(self, scores: PairScores) -> Tensor:
        return torch.square(scores.chosen_P - scores.rejected_P - 1.0 / (2.0 * self.beta))
