"""DRO: REINFORCE without a ratio, held near the sampler by a quadratic term.

L = -Σ lp·A - β/2·(lp - q)², so ∂L/∂lp = -A + β·(lp - q); on-policy it is REINFORCE. Source: the
policy half of direct reward optimisation, Richemond et al., arXiv 2405.19107.
"""

from dataclasses import dataclass
from typing import ClassVar

from workers.learning.losses.contract import LossInputs, LossTerms
from workers.learning.losses.masks import kept, never_clipped


@dataclass(frozen=True, slots=True)
class Dro:
    """`beta` has no default: it is in units of reward per squared nat, and users of this loss
    disagree on it by a factor of five. Raises `ValueError` unless it is positive.
    """

    rows_per_example: ClassVar[int] = 1
    needs_vocabulary: ClassVar[bool] = False
    uses_zero_advantage_tokens: ClassVar[bool] = True

    beta: float

    def __post_init__(self) -> None:
        if self.beta <= 0:
            raise ValueError("beta must be positive")

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = kept(inputs.logprobs_N, inputs.mask_N)
        distance_N = kept(inputs.logprobs_N - inputs.sampler_logprobs_N, inputs.mask_N)
        kept_N = kept(inputs.advantages_N, inputs.mask_N)
        pull_N = 0.5 * self.beta * distance_N.square()
        return LossTerms((pull_N - logprobs_N * kept_N).sum(), never_clipped(inputs))
