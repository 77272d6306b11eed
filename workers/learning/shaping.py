"""Reward shaping: small, bounded penalties in addition to the grader's reward.

Owns the objective. Promises: reported rewards are the grader's; only advantages are computed from
the shaped reward. All terms are off by default except a light token penalty. Must not know
graders or groups.
"""

from dataclasses import dataclass
from typing import Final

from app.domain.rollouts.trajectory import StopReason, Trajectory

COUNTED_CALLS: Final = 10
"""Largest number of calls over budget (or repeated) that a term counts, so that it is bounded."""


@dataclass(frozen=True, slots=True)
class ShapingConfig:
    """The terms of `shape`. Raises `ValueError` on a negative figure or an empty budget."""

    token_penalty: float = 0.02
    """Penalty of a rollout that samples `token_budget` tokens or more; proportionally less for a
    shorter one. Small: it orders equally good rollouts but never outweighs a grader's step."""
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


def shape(reward: float, trajectory: Trajectory, config: ShapingConfig) -> float:
    """Returns the shaped reward, from which advantages are computed: `reward`, clamped if
    configured, minus the penalties.
    """
    stopped = trajectory.stop_reason not in {None, StopReason.FINAL_ANSWER}
    value = min(reward, 0.0) if config.clamp_limit_stop and stopped else reward
    return (
        value
        - _token_penalty(trajectory, config)
        - _call_penalty(trajectory, config)
        - _overlong_penalty(trajectory, config)
    )


def _token_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    return config.token_penalty * min(1.0, trajectory.completion_tokens / config.token_budget)


def _call_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    calls = trajectory.tool_calls
    repeated = min(COUNTED_CALLS, sum(call.repeated for call in calls))
    cost = config.repeated_call_penalty * repeated
    if config.call_budget is not None:
        over = min(COUNTED_CALLS, max(0, len(calls) - config.call_budget))
        cost += config.call_budget_penalty * over
    return cost


def _overlong_penalty(trajectory: Trajectory, config: ShapingConfig) -> float:
    """Returns f·clip((length - (limit - buffer)) / buffer, 0, 1). Source: DAPO (arXiv 2503.14476),
    eq. 13, with the penalty f.
    """
    if config.overlong_limit is None:
        return 0.0
    over = trajectory.completion_tokens - (config.overlong_limit - config.overlong_buffer)
    return config.overlong_penalty * min(1.0, max(0.0, over / config.overlong_buffer))
