"""Rewards of groups of rollouts become advantages, after the terms of the objective. Advantages
belong to rollouts, not to the rows into which a rollout may be split.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import stdev
from types import MappingProxyType
from typing import Final, Literal

from app.rollouts.trajectory import StopReason, Trajectory

STD_EPSILON: Final = 1e-6
SPREAD_TOLERANCE: Final = 1e-9
"""Relative difference up to which two rewards are equal: smaller ones are rounding errors."""

GroupStatus = Literal["trained", "zero_variance", "masked"]
Estimator = Callable[[Sequence[float]], list[float]]


@dataclass(frozen=True, slots=True)
class RewardGroup:
    rewards: Sequence[float | None]
    min_valid: int
    objective: Sequence[float | None] | None = None
    distinctions: Sequence[float | None] | None = None


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """Parallel to the rewards; `None` for samples that must not train."""

    advantages: list[float | None]
    status: GroupStatus


def centred_advantages(rewards: Sequence[float]) -> list[float]:
    """A = R - mean(R). Source: Dr. GRPO (arXiv 2503.20783), without its length constant."""
    mean = math.fsum(rewards) / len(rewards)
    return [reward - mean for reward in rewards]


def std_normalised_advantages(rewards: Sequence[float]) -> list[float]:
    """A = (R - mean(R)) / (std(R) + 1e-6), with the unbiased (n - 1) deviation. Source: GRPO (arXiv
    2402.03300). Groups with nearly equal rewards weigh as others do.
    """
    spread = stdev(rewards) + STD_EPSILON
    return [advantage / spread for advantage in centred_advantages(rewards)]


def leave_one_out(rewards: Sequence[float]) -> list[float]:
    """A = R - mean(R of the other rollouts) = G/(G-1)·(R - mean(R)). Source: RLOO (arXiv
    2402.14740), without division by the deviation.
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
    """Computes the advantages of all groups of one optimizer step, in their order. `batch_std` is A
    = (R - mean(R of the group)) / (std + 1e-6), with the unbiased deviation of every graded rollout
    of the step, including those of dropped groups. Source: TRL's `scale_rewards="batch"`. Other
    estimators compute each group separately with `group_advantages`. Raises the same errors.
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
    return [
        GroupOutcome(
            [None if advantage is None else advantage / spread for advantage in outcome.advantages],
            outcome.status,
        )
        for outcome in outcomes
    ]


def _all_equal(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= SPREAD_TOLERANCE * max(1.0, *map(abs, values))


def _check(rewards: Sequence[float | None], objective: Sequence[float | None]) -> None:
    if [reward is None for reward in rewards] != [value is None for value in objective]:
        raise ValueError("objective and rewards must be absent for the same samples")
    for value in (*rewards, *objective):
        if value is not None and not math.isfinite(value):
            raise ValueError(f"a reward must be finite, got {value!r}")


_ROUNDING: Final = 1e-9
COUNTED_CALLS: Final = 10
"""Largest number of calls over budget (or repeated) that a term counts, so that it is bounded."""


@dataclass(frozen=True, slots=True)
class ShapingConfig:
    token_penalty: float = 0.02
    """Penalty of a rollout that samples `token_budget` tokens or more; proportionally less for a
    shorter one; at most half of the smallest difference in a group, see `order_equals`."""
    token_budget: int = 1024
    call_budget: int | None = None
    call_budget_penalty: float = 0.0
    repeated_call_penalty: float = 0.0
    overlong_limit: int | None = None
    overlong_buffer: int = 1
    overlong_penalty: float = 1.0
    clamp_limit_stop: bool = False
    """Limits the reward of a rollout that a limit stopped to 0. Off by default, because the grader
    sees that the final answer is missing and may give partial credit on purpose."""


@dataclass(frozen=True, slots=True)
class ShapedReward:
    reward: float
    clamped: float = 0.0
    token_penalty: float = 0.0
    call_budget_penalty: float = 0.0
    repeated_call_penalty: float = 0.0
    overlong_penalty: float = 0.0

    @property
    def value(self) -> float:
        return self.distinction - self.token_penalty

    @property
    def distinction(self) -> float:
        """The value that decides whether rollouts of a group differ. It includes all terms that a
        user has to turn on, but not the token penalty, which only orders rollouts of a group that
        trains anyway.
        """
        return (
            self.reward
            - self.clamped
            - self.call_budget_penalty
            - self.repeated_call_penalty
            - self.overlong_penalty
        )


def shape(reward: float, trajectory: Trajectory, config: ShapingConfig) -> ShapedReward:
    stopped = trajectory.stop_reason not in {None, StopReason.FINAL_ANSWER}
    calls = trajectory.tool_calls
    return ShapedReward(
        reward,
        clamped=max(reward, 0.0) if config.clamp_limit_stop and stopped else 0.0,
        token_penalty=config.token_penalty
        * min(1.0, trajectory.completion_tokens / config.token_budget),
        call_budget_penalty=_call_budget_penalty(len(calls), config),
        repeated_call_penalty=config.repeated_call_penalty
        * min(COUNTED_CALLS, sum(call.repeated for call in calls)),
        overlong_penalty=_overlong_penalty(trajectory, config),
    )


def order_equals(group: Sequence[ShapedReward | None]) -> list[ShapedReward | None]:
    """Scales the token penalties of a group's rollouts down until they differ by at most half of
    the smallest difference of the rollouts' `distinction`, from each other and from their mean. The
    penalties then order equally good rollouts; a better rollout stays better, and an advantage
    keeps its sign, however long the rollout is. `None` is a failed rollout.
    """
    graded = [shaped for shaped in group if shaped is not None]
    values = sorted({shaped.distinction for shaped in graded})
    rounding = _ROUNDING * max(map(abs, values), default=0.0)
    apart = [high - low for low, high in pairwise(values)]
    apart += map(abs, centred_advantages([shaped.distinction for shaped in graded] or [0.0]))
    steps = [step for step in apart if step > rounding]
    penalties = [shaped.token_penalty for shaped in graded]
    spread = max(penalties, default=0.0) - min(penalties, default=0.0)
    if not steps or spread <= min(steps) / 2:
        return list(group)
    scale = min(steps) / 2 / spread
    return [
        None if shaped is None else replace(shaped, token_penalty=scale * shaped.token_penalty)
        for shaped in group
    ]


def _call_budget_penalty(calls: int, config: ShapingConfig) -> float:
    if config.call_budget is None:
        return 0.0
    return config.call_budget_penalty * min(COUNTED_CALLS, max(0, calls - config.call_budget))


def _overlong_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    """f·clip((length - limit + buffer) / buffer, 0, 1). Source: DAPO (arXiv 2503.14476), eq. 13."""
    if config.overlong_limit is None:
        return 0.0
    over = trajectory.completion_tokens - (config.overlong_limit - config.overlong_buffer)
    return config.overlong_penalty * min(1.0, max(0.0, over / config.overlong_buffer))
