"""The losses: their interface, and each with its formula, gradient and source.

A loss is a pure function of parallel tensors of N tokens. It returns the **sum** over its trained
tokens, or over its examples if an example has two rows (a preference pair); the caller divides by
one global denominator per optimizer step. Masked tokens (mask 0) contribute neither value nor
gradient, even if their inputs are not finite.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import logsigmoid

from app.jobs.learning import MAX_LOG_RATIO
from app.jobs.losses import (
    BradleyTerryOptions,
    CispoOptions,
    CrossEntropyOptions,
    DpoOptions,
    DroOptions,
    FocalOptions,
    ImportanceSamplingOptions,
    LabelSmoothingOptions,
    Number,
    PpoOptions,
)
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


class ImportanceSampling(ImportanceSamplingOptions):
    """The unclipped importance-weighted policy gradient loss.

    L = -Σ r·A with r = exp(lp - q), so ∂L/∂lp = -r·A; on-policy (r = 1) it is REINFORCE. Suited to
    on-policy modes; off-policy it has no trust region. Source: `importance_sampling` of the tinker
    API.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        terms_N = -log_ratio_N.exp() * torch.where(inputs.mask_N, inputs.advantages_N, 0.0)
        return LossTerms(terms_N.sum(), out_of_range(log_ratio_N))


class Ppo(PpoOptions):
    """The clipped surrogate loss of PPO.

    L = -Σ min(r·A, clip(r, 1-ε, 1+ε_high)·A) with r = exp(lp - q), so ∂L/∂lp = -r·A, or 0 where
    (A > 0 and r > 1+ε_high) or (A < 0 and r < 1-ε). Source: Schulman et al., arXiv 1707.06347; the
    separate upper bound ("clip higher", 0.28) is DAPO's, arXiv 2503.14476. With a dual clip c the
    term for A < 0 is at most -c·A and has no gradient at r > c: Ye et al., arXiv 1912.09729.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        ratio_N = log_ratio_N.exp()
        advantages_N = torch.where(inputs.mask_N, inputs.advantages_N, 0.0)
        bounded_N = ratio_N.clamp(1.0 - self.epsilon, 1.0 + high)
        surrogate_N = torch.minimum(ratio_N * advantages_N, bounded_N * advantages_N)
        clipped_N = ((advantages_N > 0) & (ratio_N > 1.0 + high)) | (
            (advantages_N < 0) & (ratio_N < 1.0 - self.epsilon)
        )
        if self.dual_clip is not None:
            floor_N = torch.where(advantages_N < 0, self.dual_clip * advantages_N, -torch.inf)
            surrogate_N = torch.maximum(surrogate_N, floor_N)
            clipped_N |= (advantages_N < 0) & (ratio_N > self.dual_clip)
        return LossTerms(-surrogate_N.sum(), clipped_N | out_of_range(log_ratio_N))


class Cispo(CispoOptions):
    """CISPO: REINFORCE weighted by a clipped importance ratio that carries no gradient.

    L = -Σ sg(clip(r, low, high))·lp·A with r = exp(lp - q), so ∂L/∂lp = -clip(r)·A: unlike PPO, no
    token loses its gradient. Source: MiniMax-M1, arXiv 2506.13585. `low` is 0 by default: a
    positive bound keeps a gradient on tokens whose probability the policy has already reduced.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = log_ratio(inputs.logprobs_N, inputs.sampler_logprobs_N, inputs.mask_N)
        ratio_N = log_ratio_N.detach().exp()
        advantages_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        weights_N = ratio_N.clamp(self.low, self.high) * advantages_N
        total = -(weights_N * zero_masked(inputs.logprobs_N, inputs.mask_N)).sum()
        bounded_N = (ratio_N < self.low) | (ratio_N > self.high)
        return LossTerms(total, bounded_N | out_of_range(log_ratio_N))


class Dro(DroOptions):
    """DRO: REINFORCE without a ratio, with a quadratic penalty on the distance from the sampler.

    L = -Σ lp·A - β/2·(lp - q)², so ∂L/∂lp = -A + β·(lp - q); on-policy it is REINFORCE. Source: the
    policy half of direct reward optimisation, Richemond et al., arXiv 2405.19107.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        distance_N = zero_masked(inputs.logprobs_N - inputs.sampler_logprobs_N, inputs.mask_N)
        advantages_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        penalty_N = 0.5 * self.beta * distance_N.square()
        return LossTerms((penalty_N - logprobs_N * advantages_N).sum(), never_clipped(inputs))


class CrossEntropy(CrossEntropyOptions):
    """The cross-entropy loss on supervised data.

    L = -Σ w·lp, so ∂L/∂lp = -w, with a token's weight w in place of its advantage: any real number,
    including 0.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        return LossTerms(
            -torch.dot(weights_N.to(logprobs_N.dtype), logprobs_N), never_clipped(inputs)
        )


class LabelSmoothing(LabelSmoothingOptions):
    """Cross-entropy against targets with a share ε spread evenly over the vocabulary.

    L = Σ w·((1-ε)·(-lp) + ε·(-mean_v lp_v)), so for the logits z of one token
    ∂L/∂z_v = w·(p_v - (1-ε)·[v = y] - ε/V). Source: Szegedy et al., arXiv 1512.00567.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        if inputs.mean_logprobs_N is None:
            raise ValueError("label smoothing requires the mean over the vocabulary")
        target_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        mean_N = zero_masked(inputs.mean_logprobs_N, inputs.mask_N)
        smoothed_N = (1.0 - self.smoothing) * target_N + self.smoothing * mean_N
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N)
        return LossTerms(
            -torch.dot(weights_N.to(target_N.dtype), smoothed_N), never_clipped(inputs)
        )


MIN_COMPLEMENT: Final = 1e-12
"""Lower bound of 1 - p: the derivative of (1-p)^γ at 1 - p = 0 is infinite for γ < 1."""


class Focal(FocalOptions):
    """Focal loss: cross-entropy that gives a token less weight the higher its probability is.

    L = -Σ w·(1-p)^γ·lp with p = exp(lp), so ∂L/∂lp = w·(1-p)^(γ-1)·(γ·p·lp - (1-p)); γ = 0 is
    cross-entropy. Source: Lin et al., arXiv 1708.02002, without its class weight.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        logprobs_N = zero_masked(inputs.logprobs_N, inputs.mask_N)
        complement_N = (-torch.expm1(logprobs_N)).clamp_min(MIN_COMPLEMENT)
        weights_N = zero_masked(inputs.advantages_N, inputs.mask_N).to(logprobs_N.dtype)
        return LossTerms(
            -(weights_N * complement_N.pow(self.gamma) * logprobs_N).sum(), never_clipped(inputs)
        )


class Dpo(DpoOptions):
    """The direct preference optimisation (DPO) loss on sequence log-probs against a frozen
    reference.

    With D = (lp_c - ref_c) - (lp_r - ref_r), sums over a completion's trained tokens:
    - `sigmoid`: L = Σ -(1-ε)·logσ(β·D) - ε·logσ(-β·D), so
      ∂L/∂lp_c = -β·((1-ε)·σ(-β·D) - ε·σ(β·D)) and ∂L/∂lp_r is its negative. Source: Rafailov et
      al., arXiv 2305.18290; ε, the share of pairs with swapped labels, is from conservative DPO.
    - `ipo`: L = Σ (D - 1/(2β))² with means in place of the sums. Source: Azar et al., arXiv
      2310.12036; its authors used means; with sums the square would grow with length.

    Either adds `rpo_alpha`·(-mean lp_c), the chosen completion's loss per token: DPO alone is
    content when both become less probable. Source: Pang et al., arXiv 2404.19733, eq. 1; the name
    is TRL's.

    `LossInputs.sampler_logprobs_N` contains the reference's log-probs. Sums run over pairs.
    """

    beta: Number = Field(default=0.1, gt=0)
    """A hyperparameter of the job, not an option of its loss."""

    def __call__(self, inputs: LossInputs) -> LossTerms:
        log_ratio_N = zero_masked(inputs.logprobs_N - inputs.sampler_logprobs_N, inputs.mask_N)
        sums = pair_scores(log_ratio_N, inputs)
        if self.variant == "ipo":
            means = pair_scores(log_ratio_N, inputs, mean=True)
            distance_P = means.chosen_P - means.rejected_P - 1.0 / (2.0 * self.beta)
            terms_P = torch.square(distance_P)
        else:
            margin_P = self.beta * (sums.chosen_P - sums.rejected_P)
            epsilon = self.label_smoothing
            terms_P = -(1.0 - epsilon) * logsigmoid(margin_P) - epsilon * logsigmoid(-margin_P)
        if self.rpo_alpha:
            chosen_P = pair_scores(inputs.logprobs_N, inputs, mean=True).chosen_P
            terms_P = terms_P - self.rpo_alpha * chosen_P
        rewards = PairScores(self.beta * sums.chosen_P, self.beta * sums.rejected_P, sums.present_P)
        return LossTerms(
            zero_masked(terms_P, sums.present_P).sum(),
            never_clipped(inputs),
            preference_sums(rewards, inputs),
        )


class BradleyTerry(BradleyTerryOptions):
    """The Bradley-Terry preference loss on sequence log-probs, without a reference model.

    The score s of a sequence is the sum (or the mean) of its trained tokens' log-probs:
    L = -Σ logσ(s_c - s_r - m), so ∂L/∂s_c = -σ(-(s_c - s_r - m)) and ∂L/∂s_r is its negative.
    Source: the pairwise loss of reward models (Ouyang et al., arXiv 2203.02155, eq. 1); here the
    score needs no reward head. Sums run over pairs.
    """

    def __call__(self, inputs: LossInputs) -> LossTerms:
        scores = pair_scores(inputs.logprobs_N, inputs, mean=self.length_normalised)
        terms_P = -logsigmoid(scores.chosen_P - scores.rejected_P - self.margin)
        return LossTerms(
            zero_masked(terms_P, scores.present_P).sum(),
            never_clipped(inputs),
            preference_sums(scores, inputs),
        )


_LOSSES: Final[dict[str, type[Loss]]] = {
    "importance_sampling": ImportanceSampling,
    "ppo": Ppo,
    "cispo": Cispo,
    "dro": Dro,
    "cross_entropy": CrossEntropy,
    "label_smoothing": LabelSmoothing,
    "focal": Focal,
    "dpo": Dpo,
    "bradley_terry": BradleyTerry,
}


def build_loss(name: str, **options: Any) -> Loss:
    """Raises `ValueError` for an option that the loss does not have, or out of its range."""
    return _LOSSES[name](**options)
