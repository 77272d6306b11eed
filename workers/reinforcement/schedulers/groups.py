"""From the rollouts of one prompt to what the trainer is given: advantages and samples.

The same for every mode, so that none of them changes what a sample's gradient is.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.rollouts import metrics as names
from app.domain.rollouts.trajectory import ScoredRollout
from workers.learning.advantages import BATCH_STD, GroupStatus, RewardGroup, step_advantages
from workers.learning.shaping import ShapingConfig, shape
from workers.learning.training_samples import TrainingSample


@dataclass(frozen=True, slots=True)
class GroupRecipe:
    """How a group is turned into training samples."""

    min_group_share: float
    shaping: ShapingConfig
    estimator: str = "centred"
    """Of `workers.learning.advantages`."""


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """The rollouts of one prompt, and what of them may train."""

    rollouts: list[ScoredRollout]
    samples: list[TrainingSample]
    status: GroupStatus


def prepare(rollouts: list[ScoredRollout], recipe: GroupRecipe) -> PreparedGroup:
    """Advantages per rollout, within the group."""
    # What divides by the step's deviation has to wait for the step: see `step_samples`.
    estimator = "centred" if recipe.estimator == BATCH_STD else recipe.estimator
    (outcome,) = step_advantages([_rewards(rollouts, recipe)], estimator=estimator)
    return PreparedGroup(rollouts, _samples(rollouts, outcome.advantages), outcome.status)


def step_samples(groups: Sequence[PreparedGroup], recipe: GroupRecipe) -> list[TrainingSample]:
    """What a whole step trains, all of its groups being there."""
    if recipe.estimator != BATCH_STD:
        return samples_of(groups)
    outcomes = step_advantages(
        [_rewards(group.rollouts, recipe) for group in groups], estimator=BATCH_STD
    )
    return [
        sample
        for group, outcome in zip(groups, outcomes, strict=True)
        for sample in _samples(group.rollouts, outcome.advantages)
    ]


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


def _rewards(rollouts: Sequence[ScoredRollout], recipe: GroupRecipe) -> RewardGroup:
    return RewardGroup(
        [rollout.reward for rollout in rollouts],
        min_valid=math.ceil(recipe.min_group_share * len(rollouts)),
        objective=[_objective(rollout, recipe.shaping) for rollout in rollouts],
    )


def _samples(
    rollouts: Sequence[ScoredRollout], advantages: Sequence[float | None]
) -> list[TrainingSample]:
    return [
        TrainingSample.of(rollout.trajectory, advantage)
        for rollout, advantage in zip(rollouts, advantages, strict=True)
        if advantage is not None
    ]


def _objective(rollout: ScoredRollout, shaping: ShapingConfig) -> float | None:
    return None if rollout.reward is None else shape(rollout.reward, rollout.trajectory, shaping)
