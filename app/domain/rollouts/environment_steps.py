"""The steps of an HTTP environment in a rollout, and their total reward. Pure.

The reward of a rollout is the undiscounted sum over its steps, as a return is in reinforcement
learning: an environment that rewards the last step alone needs no other rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class EnvironmentStep:
    """One answered step."""

    done: bool
    reward: float | None
    """Reward of the step; `None` if the answer had none."""
    latency_s: float
    """Latency of the attempt that succeeded."""
    attempts: int
    components: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    """The environment's result for a whole rollout, in the form of `sample.environment`."""

    reward: float | None
    """Sum over the steps; `None` for an episode that the environment ended without any reward."""
    components: dict[str, float]
    """Sums of the components by name."""
    steps: int
    done: bool
    """True if the environment ended the episode, false if a limit did."""

    def to_sample(self) -> dict[str, Any]:
        return {
            "reward": self.reward,
            "components": self.components,
            "steps": self.steps,
            "done": self.done,
        }


LARGEST_REWARD: Final = 1e9
"""Absolute limit of a step's reward, as of any score."""
REWARD_KEYS: Final = ("reward", "components", "steps", "done")
"""Keys of `sample.environment`."""


def episode_reward(steps: Sequence[EnvironmentStep]) -> EpisodeReward:
    """Adds up the steps of a rollout. An episode that a limit ended gets the sum of its steps, 0
    without any reward: the policy did not reach one within the limits.
    """
    done = any(step.done for step in steps)
    rewards = [step.reward for step in steps if step.reward is not None]
    components = dict[str, float]()
    for step in steps:
        for name, value in step.components.items():
            components[name] = components.get(name, 0.0) + value
    reward = None if done and not rewards else sum(rewards, 0.0)
    return EpisodeReward(reward, components, len(steps), done)
