"""From the rollouts of one prompt to what the trainer is given: advantages and samples.

The same for every mode, so that none of them changes what a sample's gradient is.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain import metrics as names
from app.domain.trajectory import ScoredRollout
from workers.learning.advantages import GroupStatus, group_advantages
from workers.learning.samples import TrainingSample
from workers.learning.shaping import ShapingConfig, shape


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a group is turned into training samples."""

    min_group_share: float
    shaping: ShapingConfig


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """The rollouts of one prompt, and what of them may train."""

    rollouts: list[ScoredRollout]
    samples: list[TrainingSample]
    status: GroupStatus


def prepare(rollouts: list[ScoredRollout], recipe: Recipe) -> PreparedGroup:
    """Advantages per rollout, within the group."""
    outcome = group_advantages(
        [rollout.reward for rollout in rollouts],
        min_valid=math.ceil(recipe.min_group_share * len(rollouts)),
        objective=[_objective(rollout, recipe.shaping) for rollout in rollouts],
    )
    samples = [
        TrainingSample.of(rollout.trajectory, advantage)
        for rollout, advantage in zip(rollouts, outcome.advantages, strict=True)
        if advantage is not None
    ]
    return PreparedGroup(rollouts, samples, outcome.status)


def rollouts_of(groups: Sequence[PreparedGroup]) -> list[ScoredRollout]:
    return [rollout for group in groups for rollout in group.rollouts]


def samples_of(groups: Sequence[PreparedGroup]) -> list[TrainingSample]:
    return [sample for group in groups for sample in group.samples]


def group_counts(groups: Sequence[PreparedGroup]) -> dict[str, float]:
    """Curve values: how many groups trained, and why the others did not."""
    counts = Counter(group.status for group in groups)
    return {
        names.GROUPS_TRAINED: float(counts["trained"]),
        names.GROUPS_ZERO_VARIANCE: float(counts["zero_variance"]),
        names.GROUPS_MASKED: float(counts["masked"]),
    }


def _objective(rollout: ScoredRollout, shaping: ShapingConfig) -> float | None:
    return None if rollout.reward is None else shape(rollout.reward, rollout.trajectory, shaping)
