"""The dependencies and settings of rollouts that do not change during a run."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.rendering.renderer import Renderer
from workers.grading.group_scorer import GroupScorer
from workers.rollout.environment import RolloutEnvironment
from workers.rollout.limits import EpisodeLimits


class RolloutSlots(asyncio.Semaphore):
    """The slots of a run: its training rollouts and those of its validations share them."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    renderer: Renderer
    new_environment: Callable[[], RolloutEnvironment]
    """Creates the environment of one rollout."""
    scorer: GroupScorer
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    slots: RolloutSlots
    """Each rollout occupies one while it is played and scored by itself."""
