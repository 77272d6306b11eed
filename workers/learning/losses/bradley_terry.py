"""The Bradley-Terry preference loss on sequence log-probs, without a reference model.

The score s of a sequence is the sum (or the mean) of its trained tokens' log-probs:
L = -Σ logσ(s_c - s_r - m), so ∂L/∂s_c = -σ(-(s_c - s_r - m)) and ∂L/∂s_r is its negative. Source:
the pairwise loss of reward models (Ouyang et al., arXiv 2203.02155, eq. 1); here the score needs no
reward head. Sums run over pairs.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch.nn.functional import logsigmoid

from workers.learning.losses.contract import (
    LossInputs,
    LossTerms,
    never_clipped,
    pair_scores,
    preference_sums,
    zero_masked,
)


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """With `length_normalised` the score is the mean, so that a short sequence does not score
    higher because it is short. Raises `ValueError` on a negative margin.
    """

    rows_per_example: ClassVar[int] = 2
    needs_vocabulary: ClassVar[bool] = False
    uses_zero_advantage_tokens: ClassVar[bool] = False

    margin: float = 0.0
    length_normalised: bool = False

    def __post_init__(self) -> None:
        if self.margin < 0:
            raise ValueError("margin must not be negative")

    def __call__(self, inputs: LossInputs) -> LossTerms:
        scores = pair_scores(inputs.logprobs_N, inputs, mean=self.length_normalised)
        terms_P = -logsigmoid(scores.chosen_P - scores.rejected_P - self.margin)
        return LossTerms(
            zero_masked(terms_P, scores.present_P).sum(),
            never_clipped(inputs),
            preference_sums(scores, inputs),
        )
