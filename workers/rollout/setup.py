"""Everything that rollouts need and that does not change during a run."""

from dataclasses import dataclass

from app.rendering.renderer import Renderer
from workers.grading.group_scorer import GroupScorer
from workers.rollout.episode import EpisodeLimits
from workers.rollout.tools import ToolCaller


@dataclass(frozen=True, slots=True)
class RolloutSetup:
    renderer: Renderer
    tools: ToolCaller
    scorer: GroupScorer
    limits: EpisodeLimits
    job_seed: int
    temperature: float
    max_concurrent: int
    """Rollouts that are played or graded at the same time."""
