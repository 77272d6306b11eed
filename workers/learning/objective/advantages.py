"""Computes advantages from the rewards of groups of rollouts.

Owns the choice of samples and groups to train on. Promises: a failed rollout (`None`) is excluded
from the mean, the deviation and the batch, and never counts as a reward of 0. Advantages belong to
rollouts, not to the rows into which a rollout may be split. Must not know tokens or tensors.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from types import MappingProxyType
from typing import Final, Literal

STD_EPSILON: Final = 1e-6
SPREAD_TOLERANCE: Final = 1e-9
"""Relative difference up to which two rewards are equal: smaller ones are rounding errors."""

GroupStatus = Literal["trained", "zero_variance", "masked"]
Estimator = Callable[[Sequence[float]], list[float]]


@dataclass(frozen=True, slots=True)
class RewardGroup:
    """Rewards of one prompt's rollouts: the arguments of `group_advantages`."""

    rewards: Sequence[float | None]
    min_valid: int
    objective: Sequence[float | None] | None = None
    distinctions: Sequence[float | None] | None = None


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """Advantages of a group, parallel to its rewards. `None` marks samples that must not train:
    failed ones, and every sample of a group whose status is not `trained`.
    """

    advantages: list[float | None]
    status: GroupStatus


def centred_advantages(rewards: Sequence[float]) -> list[float]:
    """Computes A = R - mean(R). Source: Dr. GRPO (arXiv 2503.20783), without its length
    constant.
    """
    mean = math.fsum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def std_normalised_advantages(rewards: Sequence[float]) -> list[float]:
    """Computes A = (R - mean(R)) / (std(R) + 1e-6), with the unbiased (n - 1) deviation.

    Source: GRPO (arXiv 2402.03300). Groups with nearly equal rewards get the same weight as
    others.
    """
    spread = stdev(rewards) + STD_EPSILON
    return [advantage / spread for advantage in centred_advantages(rewards)]


def leave_one_out(rewards: Sequence[float]) -> list[float]:
    """Computes A = R - mean(R of the other rollouts) = G/(G-1)·(R - mean(R)).

    Source: RLOO (arXiv 2402.14740), without division by the deviation, which amplifies
    nearly equal rewards.
    """
    scale = len(rewards) / (len(rewards) - 1)
    return [scale * advantage for advantage in centred_advantages(rewards)]


BATCH_STD: Final = "batch_std"
"""Name of the estimator that needs all groups of a step; see `step_advantages`."""
ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {
        "centred": centred_advantages,
        "std": std_normalised_advantages,
        "leave_one_out": leave_one_out,
    }
)


def group_advantages(
    rewards: Sequence[float | None],
    *,
    min_valid: int,
    estimator: str = "centred",
    objective: Sequence[float | None] | None = None,
    distinctions: Sequence[float | None] | None = None,
) -> GroupOutcome:
    """Computes the advantages of one group of rollouts of the same prompt.

    The group is masked if fewer than `min_valid` (or than two) of its `rewards` are valid, and
    dropped as zero-variance if all are equal. `objective`, parallel to `rewards`, contains the
    shaped rewards, from which advantages are then computed. `distinctions`, parallel too, are the
    values that must differ, by default the rewards: a group that differs by the other terms of the
    shaping only is zero-variance, so that rollouts of failed prompts are not trained to be short.
    A group whose rewards are equal after shaping is zero-variance too.
    Raises `ValueError` for a reward that is not finite and `KeyError` for an unknown estimator.
    """
    target = rewards if objective is None else objective
    different = rewards if distinctions is None else distinctions
    _check(rewards, target)
    _check(rewards, different)
    graded = [value for value in different if value is not None]
    all_masked: list[float | None] = [None] * len(rewards)
    if len(graded) < max(2, min_valid):
        return GroupOutcome(all_masked, "masked")
    valid = [value for value in target if value is not None]
    if _all_equal(graded) or _all_equal(valid):
        return GroupOutcome(all_masked, "zero_variance")
    advantages = iter(ESTIMATORS[estimator](valid))
    return GroupOutcome(
        [None if value is None else next(advantages) for value in target], "trained"
    )


def step_advantages(groups: Sequence[RewardGroup], *, estimator: str) -> list[GroupOutcome]:
    """Computes the advantages of all groups of one optimizer step, in their order.

    `batch_std` is A = (R - mean(R of the group)) / (std + 1e-6), with the unbiased deviation of
    every graded rollout of the step, including those of dropped groups. Source: TRL's
    `scale_rewards="batch"`. Other estimators compute each group separately with
    `group_advantages`. Raises the same errors.
    """
    outcomes = [
        group_advantages(
            group.rewards,
            min_valid=group.min_valid,
            estimator="centred" if estimator == BATCH_STD else estimator,
            objective=group.objective,
            distinctions=group.distinctions,
        )
        for group in groups
    ]
    if estimator != BATCH_STD:
        return outcomes
    targets = [g.rewards if g.objective is None else g.objective for g in groups]
    values = [value for target in targets for value in target if value is not None]
    spread = (stdev(values) if len(values) > 1 else 0.0) + STD_EPSILON
    return [_divide(outcome, spread) for outcome in outcomes]


def _divide(outcome: GroupOutcome, spread: float) -> GroupOutcome:
    return GroupOutcome(
        [None if advantage is None else advantage / spread for advantage in outcome.advantages],
        outcome.status,
    )


def _all_equal(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= SPREAD_TOLERANCE * max(1.0, *map(abs, values))


def _check(rewards: Sequence[float | None], objective: Sequence[float | None]) -> None:
    if [reward is None for reward in rewards] != [value is None for value in objective]:
        raise ValueError("objective and rewards must be absent for the same samples")
    for value in (*rewards, *objective):
        if value is not None and not math.isfinite(value):
            raise ValueError(f"a reward must be finite, got {value!r}")
