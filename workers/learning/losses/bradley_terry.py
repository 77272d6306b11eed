"""The Bradley-Terry preference loss on sequence log-probs, without a reference model.

The score s of a sequence is the sum (or the mean) of its trained tokens' log-probs:
L = -Σ logσ(s_c - s_r - m), so ∂L/∂s_c = -σ(-(s_c - s_r - m)) and ∂L/∂s_r is its negative. Source:
the pairwise loss of reward models (Ouyang et al., arXiv 2203.02155, eq. 1); here the score needs no
reward head. Sums run over pairs.
"""

from torch.nn.functional import logsigmoid

from app.jobs.losses import BradleyTerryOptions
from workers.learning.losses.contract import (
    LossInputs,
    LossTerms,
    never_clipped,
    pair_scores,
    preference_sums,
    zero_masked,
)


class Loss(BradleyTerryOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        scores = pair_scores(inputs.logprobs_N, inputs, mean=self.length_normalised)
        terms_P = -logsigmoid(scores.chosen_P - scores.rejected_P - self.margin)
        return LossTerms(
            zero_masked(terms_P, scores.present_P).sum(),
            never_clipped(inputs),
            preference_sums(scores, inputs),
        )
