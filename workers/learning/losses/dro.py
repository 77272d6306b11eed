"""DRO: REINFORCE without a ratio, with a quadratic penalty on the distance from the sampler.

L = -Σ lp·A - β/2·(lp - q)², so ∂L/∂lp = -A + β·(lp - q); on-policy it is REINFORCE. Source: the
policy half of direct reward optimisation, Richemond et al., arXiv 2405.19107.
"""

from app.jobs.losses import DroOptions
from workers.learning.losses.contract import LossInputs, LossTerms, never_clipped, zero_masked


class Loss(DroOptions):
    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        distance_N = zero_masked(inputs.logprobs_N - inputs.sampler_logprobs_N, inputs.mask_N)
        advantages_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        penalty_N = 0.5 * self.beta * distance_N.square()
        return LossTerms((penalty_N - logprobs_N * advantages_N).sum(), never_clipped(inputs))
