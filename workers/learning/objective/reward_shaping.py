"""Reward shaping: small, bounded penalties in addition to the grader's reward.

Owns the objective. Promises: reported rewards are the grader's; only advantages are computed from
the shaped reward. All terms are off by default except a light token penalty, which alone trains
nothing and never makes a worse rollout the better one. Must not know graders.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from app.domain.rollouts.trajectory import StopReason, Trajectory

_ROUNDING: Final = 1e-9
COUNTED_CALLS: Final = 10
"""Largest number of calls over budget (or repeated) that a term counts, so that it is bounded."""


@dataclass(frozen=True, slots=True)
class ShapingConfig:
    """The terms of `shape`. Raises `ValueError` on a negative number or an empty budget."""

    token_penalty: float = 0.02
    """Penalty of a rollout that samples `token_budget` tokens or more; proportionally less for a
    shorter one; at most half of the smallest difference in a group, see `order_equals`."""
    token_budget: int = 1024
    """Sampled tokens of one rollout."""
    call_budget: int | None = None
    """Tool calls without penalty; `None` means no budget."""
    call_budget_penalty: float = 0.0
    """Penalty per call over `call_budget`."""
    repeated_call_penalty: float = 0.0
    """Penalty per call with the name and arguments of an earlier one."""
    overlong_limit: int | None = None
    """Sampled tokens at which the penalty is `overlong_penalty`; `None` means no limit."""
    overlong_buffer: int = 1
    """Number of tokens before the limit over which the penalty grows linearly."""
    overlong_penalty: float = 1.0
    clamp_limit_stop: bool = False
    """Limits the reward of a rollout that a limit stopped to 0. Off by default, because the grader
    sees that the final answer is missing and may give partial credit on purpose."""

    def __post_init__(self) -> None:
        penalties = (self.token_penalty, self.call_budget_penalty, self.repeated_call_penalty)
        if min(*penalties, self.overlong_penalty) < 0:
            raise ValueError("penalties must not be negative")
        if self.token_budget < 1 or (self.call_budget is not None and self.call_budget < 0):
            raise ValueError("token_budget must be at least 1 and call_budget at least 0")
        limit = self.overlong_limit
        if limit is not None and not 1 <= self.overlong_buffer <= limit:
            raise ValueError("overlong_buffer must be at least 1 and at most overlong_limit")


@dataclass(frozen=True, slots=True)
class ShapedReward:
    """A grader's reward, and what each term of the objective takes from it."""

    reward: float
    clamped: float = 0.0
    token_penalty: float = 0.0
    call_budget_penalty: float = 0.0
    repeated_call_penalty: float = 0.0
    overlong_penalty: float = 0.0

    @property
    def value(self) -> float:
        """The shaped reward, from which advantages are computed."""
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
    """Computes every term of a rollout's objective."""
    stopped = trajectory.stop_reason not in {None, StopReason.FINAL_ANSWER}
    calls = trajectory.tool_calls
    return ShapedReward(
        reward,
        clamped=max(reward, 0.0) if config.clamp_limit_stop and stopped else 0.0,
        token_penalty=_token_penalty(trajectory, config),
        call_budget_penalty=_call_budget_penalty(len(calls), config),
        repeated_call_penalty=config.repeated_call_penalty
        * min(COUNTED_CALLS, sum(call.repeated for call in calls)),
        overlong_penalty=_overlong_penalty(trajectory, config),
    )


def order_equals(group: Sequence[ShapedReward | None]) -> list[ShapedReward | None]:
    """Scales the token penalties of a group's rollouts down until they differ by at most half of
    the smallest difference of the rollouts' `distinction`. The penalties then order equally good
    rollouts, and a better rollout stays better, however long it is. `None` is a failed rollout.
    """
    graded = [shaped for shaped in group if shaped is not None]
    values = sorted({shaped.distinction for shaped in graded})
    rounding = _ROUNDING * max(map(abs, values), default=0.0)
    steps = [high - low for low, high in pairwise(values) if high - low > rounding]
    penalties = [shaped.token_penalty for shaped in graded]
    spread = max(penalties, default=0.0) - min(penalties, default=0.0)
    if not steps or spread <= min(steps) / 2:
        return list(group)
    scale = min(steps) / 2 / spread
    return [
        None if shaped is None else replace(shaped, token_penalty=scale * shaped.token_penalty)
        for shaped in group
    ]


def _token_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    return config.token_penalty * min(1.0, trajectory.completion_tokens / config.token_budget)


def _call_budget_penalty(calls: int, config: ShapingConfig) -> float:
    if config.call_budget is None:
        return 0.0
    return config.call_budget_penalty * min(COUNTED_CALLS, max(0, calls - config.call_budget))


def _overlong_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    """Returns f·clip((length - (limit - buffer)) / buffer, 0, 1). Source: DAPO (arXiv 2503.14476),
    eq. 13, with the penalty f.
    """
    if config.overlong_limit is None:
        return 0.0
    over = trajectory.completion_tokens - (config.overlong_limit - config.overlong_buffer)
    return config.overlong_penalty * min(1.0, max(0.0, over / config.overlong_buffer))
