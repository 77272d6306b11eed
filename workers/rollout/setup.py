"""The dependencies and settings of rollouts that do not change during a run."""

from collections.abc import Callable
from dataclasses import dataclass

from app.rendering.renderer import Renderer
from workers.grading.group_scorer import GroupScorer
from workers.rollout.environment import RolloutEnvironment
from workers.rollout.limits import EpisodeLimits


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    renderer: Renderer
    new_environment: Callable[[], RolloutEnvironment]
    """Creates the environment of one rollout."""
    scorer: GroupScorer
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    max_concurrent: int
    """Rollouts that are played or graded at the same time."""
