"""Rewards of groups of rollouts to advantages.

Owns which samples and groups may train. Promises: a failed rollout (`None`) leaves the mean, the
spread and the batch; a reward of 0 is never invented. Advantages belong to rollouts, not to the
rows a rollout may be split into. Must not know tokens or tensors.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from types import MappingProxyType
from typing import Final, Literal

STD_EPSILON: Final = 1e-6
SPREAD_TOLERANCE: Final = 1e-9
"""Rewards this close, relative to their size, are equal: they differ by rounding only."""

GroupStatus = Literal["trained", "zero_variance", "masked"]
Estimator = Callable[[Sequence[float]], list[float]]


@dataclass(frozen=True, slots=True)
class RewardGroup:
    """The rewards of one prompt's rollouts, as `group_advantages` takes them."""

    rewards: Sequence[float | None]
    min_valid: int
    objective: Sequence[float | None] | None = None


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """`advantages` runs parallel to the rewards; `None` stands on what must not train: failed
    samples, and every sample of a group that is not `trained`.
    """

    advantages: list[float | None]
    status: GroupStatus


def centred(rewards: Sequence[float]) -> list[float]:
    """A = R - mean(R). Source: Dr. GRPO (arXiv 2503.20783), without its length constant."""
    mean = math.fsum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def std_normalised(rewards: Sequence[float]) -> list[float]:
    """A = (R - mean(R)) / (std(R) + 1e-6), with the unbiased (n - 1) deviation.

    Source: GRPO (arXiv 2402.03300). Weighs nearly equal groups as much as decided ones.
    """
    spread = stdev(rewards) + STD_EPSILON
    return [advantage / spread for advantage in centred(rewards)]


def leave_one_out(rewards: Sequence[float]) -> list[float]:
    """A = R - mean of the others' R = G/(G-1)·(R - mean(R)).

    Source: RLOO (arXiv 2402.14740), without a deviation, which blows up for nearly equal rewards.
    """
    scale = len(rewards) / (len(rewards) - 1)
    return [scale * advantage for advantage in centred(rewards)]


BATCH_STD: Final = "batch_std"
"""An estimator that needs the whole step: see `step_advantages`."""
ESTIMATORS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {"centred": centred, "std": std_normalised, "leave_one_out": leave_one_out}
)


def group_advantages(
    rewards: Sequence[float | None],
    *,
    min_valid: int,
    estimator: str = "centred",
    objective: Sequence[float | None] | None = None,
) -> GroupOutcome:
    """Advantages of one group of rollouts of the same prompt.

    `rewards` decide what trains: fewer than `min_valid` valid ones (or than two) and the group is
    masked; all equal and it is dropped as zero-variance. `objective`, parallel to `rewards`, is
    what the advantages are taken of when rewards were shaped; a group in which only the shaping
    differs is still zero-variance, so that hopeless rollouts are not taught to be short, and so is
    one whose different rewards the shaping made equal.
    Raises `ValueError` on a reward that is not finite and `KeyError` on an unknown estimator.
    """
    target = rewards if objective is None else objective
    _check(rewards, target)
    graded = [reward for reward in rewards if reward is not None]
    nothing: list[float | None] = [None] * len(rewards)
    if len(graded) < max(2, min_valid):
        return GroupOutcome(nothing, "masked")
    valid = [value for value in target if value is not None]
    if _all_equal(graded) or _all_equal(valid):
        return GroupOutcome(nothing, "zero_variance")
    advantages = iter(ESTIMATORS[estimator](valid))
    return GroupOutcome(
        [None if value is None else next(advantages) for value in target], "trained"
    )


def step_advantages(groups: Sequence[RewardGroup], *, estimator: str) -> list[GroupOutcome]:
    """Advantages of all groups of one optimizer step, in their order.

    `batch_std` is A = (R - mean(R of the group)) / (std + 1e-6), with the unbiased deviation of
    every graded rollout of the step, those of dropped groups included. Source: TRL's
    `scale_rewards="batch"`. The others treat each group by itself, as `group_advantages` does, and
    raise alike.
    """
    outcomes = [
        group_advantages(
            group.rewards,
            min_valid=group.min_valid,
            estimator="centred" if estimator == BATCH_STD else estimator,
            objective=group.objective,
        )
        for group in groups
    ]
    if estimator != BATCH_STD:
        return outcomes
    targets = [g.rewards if g.objective is None else g.objective for g in groups]
    values = [value for target in targets for value in target if value is not None]
    spread = (stdev(values) if len(values) > 1 else 0.0) + STD_EPSILON
    return [_divided(outcome, spread) for outcome in outcomes]


def _divided(outcome: GroupOutcome, spread: float) -> GroupOutcome:
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
