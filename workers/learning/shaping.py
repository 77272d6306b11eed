"""Reward shaping: small, bounded budget terms beside the grader's reward.

Owns the objective. Promises: the reward that people see stays the grader's; only advantages are
taken of the shaped value. Everything is off by default except a light token penalty. Must not know
graders or groups.
"""

from dataclasses import dataclass
from typing import Final

from app.domain.rollouts.trajectory import StopReason, Trajectory

COUNTED_CALLS: Final = 10
"""Calls beyond this many over budget (or repeated) cost nothing more: each term stays bounded."""


@dataclass(frozen=True, slots=True)
class ShapingConfig:
    """The terms of `shape`. Raises `ValueError` on a negative figure or an empty budget."""

    token_penalty: float = 0.02
    """Reward lost when a rollout writes `token_budget` tokens or more, in proportion below: light
    enough to order equally good rollouts and never to outweigh a grader's step."""
    token_budget: int = 1024
    """Sampled tokens of a whole rollout."""
    call_budget: int | None = None
    """Tool calls that cost nothing; `None` is no budget."""
    call_budget_penalty: float = 0.0
    """Per call over `call_budget`."""
    repeated_call_penalty: float = 0.0
    """Per call with the name and arguments of an earlier one."""
    overlong_limit: int | None = None
    """Sampled tokens at which a rollout loses `overlong_penalty`; `None` is no limit."""
    overlong_buffer: int = 1
    """Tokens before the limit over which the penalty grows."""
    overlong_penalty: float = 1.0
    clamp_limit_stop: bool = False
    """A rollout stopped by a limit earns at most 0. Off, because its grader has already seen that
    there is no final answer and may give partial credit on purpose."""

    def __post_init__(self) -> None:
        penalties = (self.token_penalty, self.call_budget_penalty, self.repeated_call_penalty)
        if min(*penalties, self.overlong_penalty) < 0:
            raise ValueError("penalties must not be negative")
        if self.token_budget < 1 or (self.call_budget is not None and self.call_budget < 0):
            raise ValueError("budgets must hold something")
        limit = self.overlong_limit
        if limit is not None and not 1 <= self.overlong_buffer <= limit:
            raise ValueError("the buffer must lie within the limit")


def shape(reward: float, trajectory: Trajectory, config: ShapingConfig) -> float:
    """The value that advantages are taken of: `reward` clamped, less the penalties."""
    stopped = trajectory.stop_reason not in {None, StopReason.FINAL_ANSWER}
    value = min(reward, 0.0) if config.clamp_limit_stop and stopped else reward
    return (
        value
        - _tokens(trajectory, config)
        - _calls(trajectory, config)
        - _overlong(trajectory, config)
    )


def _tokens(trajectory: Trajectory, config: ShapingConfig) -> float:
    return config.token_penalty * min(1.0, trajectory.completion_tokens / config.token_budget)


def _calls(trajectory: Trajectory, config: ShapingConfig) -> float:
    calls = trajectory.tool_calls
    repeated = min(COUNTED_CALLS, sum(call.repeated for call in calls))
    cost = config.repeated_call_penalty * repeated
    if config.call_budget is not None:
        over = min(COUNTED_CALLS, max(0, len(calls) - config.call_budget))
        cost += config.call_budget_penalty * over
    return cost


def _overlong(trajectory: Trajectory, config: ShapingConfig) -> float:
    """f·clip((length - (limit - buffer)) / buffer, 0, 1). Source: DAPO (arXiv 2503.14476), eq. 13,
    with the penalty f.
    """
    if config.overlong_limit is None:
        return 0.0
    over = trajectory.completion_tokens - (config.overlong_limit - config.overlong_buffer)
    return config.overlong_penalty * min(1.0, max(0.0, over / config.overlong_buffer))
