"""Turns scored groups into training samples: advantages within the group, samples per rollout.

The code is the same for every mode, so that no mode changes a sample's gradient.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean

from app.domain.rollouts import metrics as names
from app.domain.rollouts.trajectory import ScoredRollout
from workers.learning.objective.advantages import (
    BATCH_STD,
    GroupOutcome,
    GroupStatus,
    RewardGroup,
    step_advantages,
)
from workers.learning.objective.reward_shaping import (
    ShapedReward,
    ShapingConfig,
    order_equals,
    shape,
)
from workers.learning.training_samples import TrainingSample
from workers.rollout.groups import ScoredGroup


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Settings that turn a group into training samples."""

    min_group_share: float
    """A group with a smaller share of graded rollouts trains nothing."""
    shaping: ShapingConfig
    estimator: str = "centred"
    """A name in `workers.learning.objective.advantages`."""


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """A scored group and the training samples made of it."""

    scored: ScoredGroup
    advantages: Sequence[float | None]
    """Parallel to the rollouts; `None` for one that trains nothing."""
    samples: list[TrainingSample]
    status: GroupStatus
    shaped: Sequence[ShapedReward | None]
    """Parallel to the rollouts; `None` for a failed one."""
    logprobs: Sequence[Sequence[float] | None] = ()
    """The trainer's log-probs, parallel to the samples; empty until they are trained."""

    @property
    def trained_rollouts(self) -> list[ScoredRollout]:
        """The rollouts with the values that they were trained on."""
        logprobs = iter(self.logprobs or [None] * len(self.samples))
        return [
            replace(
                rollout,
                advantage=advantage,
                shaped_reward=None if shaped is None else shaped.value,
                trainer_logprobs=None if advantage is None else next(logprobs),
            )
            for rollout, advantage, shaped in zip(
                self.scored.rollouts, self.advantages, self.shaped, strict=True
            )
        ]


def prepare(group: ScoredGroup, config: GroupConfig) -> PreparedGroup:
    """Computes the advantage of each rollout within its group."""
    # An estimator that divides by the step's deviation waits for the step: see `settled_groups`.
    estimator = "centred" if config.estimator == BATCH_STD else config.estimator
    shaped = order_equals([_shaped(rollout, config.shaping) for rollout in group.rollouts])
    rewards = _rewards(group, shaped, config)
    (outcome,) = step_advantages([rewards], estimator=estimator)
    return _prepared(group, outcome, shaped)


def settled_groups(groups: Sequence[PreparedGroup], config: GroupConfig) -> list[PreparedGroup]:
    """Returns the groups of a whole step with the advantages that train, once all are finished."""
    if config.estimator != BATCH_STD:
        return list(groups)
    outcomes = step_advantages(
        [_rewards(group.scored, group.shaped, config) for group in groups], estimator=BATCH_STD
    )
    return [
        _prepared(group.scored, outcome, group.shaped)
        for group, outcome in zip(groups, outcomes, strict=True)
    ]


def _prepared(
    group: ScoredGroup, outcome: GroupOutcome, shaped: Sequence[ShapedReward | None]
) -> PreparedGroup:
    samples = [
        TrainingSample.of(rollout.trajectory, advantage)
        for rollout, advantage in zip(group.rollouts, outcome.advantages, strict=True)
        if advantage is not None
    ]
    return PreparedGroup(group, outcome.advantages, samples, outcome.status, shaped)


def rollouts_of(groups: Sequence[PreparedGroup]) -> list[ScoredRollout]:
    return [rollout for group in groups for rollout in group.scored.rollouts]


def samples_of(groups: Sequence[PreparedGroup]) -> list[TrainingSample]:
    return [sample for group in groups for sample in group.samples]


def with_logprobs(
    groups: Sequence[PreparedGroup], logprobs: Sequence[Sequence[float] | None]
) -> list[PreparedGroup]:
    """Returns the groups with the trainer's log-probs, which are parallel to all samples of the
    groups in their order.
    """
    if len(logprobs) != len(samples_of(groups)):
        raise ValueError("the trainer's log-probs must be parallel to the samples of the step")
    rows = iter(logprobs)
    return [replace(group, logprobs=list(islice(rows, len(group.samples)))) for group in groups]


def group_counts(groups: Sequence[PreparedGroup]) -> dict[str, float]:
    """Returns curve values: the number of groups that trained, and of the others by reason."""
    counts = Counter(group.status for group in groups)
    return {
        names.GROUPS_TRAINED: float(counts["trained"]),
        names.GROUPS_ZERO_VARIANCE: float(counts["zero_variance"]),
        names.GROUPS_MASKED: float(counts["masked"]),
    }


def objective_means(groups: Sequence[PreparedGroup]) -> dict[str, float]:
    """Returns curve values: the mean shaped reward of graded rollouts, and of each of its terms."""
    rewards = [shaped for group in groups for shaped in group.shaped if shaped is not None]
    if not rewards:
        return {}
    return {
        names.OBJECTIVE_MEAN: fmean(reward.value for reward in rewards),
        **{
            names.objective_metric(term): fmean(getattr(reward, term) for reward in rewards)
            for term in names.OBJECTIVE_TERMS
        },
    }


def _rewards(
    group: ScoredGroup, shaped: Sequence[ShapedReward | None], config: GroupConfig
) -> RewardGroup:
    return RewardGroup(
        group.rewards,
        min_valid=group.min_valid(config.min_group_share),
        objective=[None if reward is None else reward.value for reward in shaped],
        distinctions=[None if reward is None else reward.distinction for reward in shaped],
    )


def _shaped(rollout: ScoredRollout, shaping: ShapingConfig) -> ShapedReward | None:
    return None if rollout.reward is None else shape(rollout.reward, rollout.trajectory, shaping)
