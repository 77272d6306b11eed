"""Measures a step for every mode: its groups, the age of its rollouts, and the idle shares."""

from collections.abc import Sequence
from statistics import fmean

from app.domain.rollouts import metrics as names
from workers.reinforcement.schedulers.groups import (
    PreparedGroup,
    group_counts,
    rollouts_of,
    samples_of,
)
from workers.rollout.busy_clock import BusyClock, IdleShare
from workers.runs.step_outcome import StepOutcome


class StepReading:
    """Reads the figures of one step after the other.

    Idle shares run from the end of one step to the end of the next, so that publishing, evaluating
    and committing count as time in which nothing is trained.
    """

    def __init__(self, sampler_clock: BusyClock) -> None:
        self.trainer_clock = BusyClock()
        self._trainer = IdleShare(self.trainer_clock)
        self._sampler = IdleShare(sampler_clock)

    def outcome(
        self, step: int, groups: Sequence[PreparedGroup], *, ages: Sequence[int] = ()
    ) -> StepOutcome:
        """`ages` are in versions, one for each group; without them all groups are on-policy."""
        rollouts = rollouts_of(groups)
        outcome = StepOutcome(step=step, train_rollouts=rollouts)
        rollout_ages = [
            age
            for group, age in zip(groups, ages or [0] * len(groups), strict=True)
            for _ in group.scored.rollouts
        ]
        outcome.trained_tokens = sum(sample.trained_tokens for sample in samples_of(groups))
        outcome.train_values[names.TRAINED_TOKENS] = float(outcome.trained_tokens)
        outcome.train_values.update(group_counts(groups))
        outcome.train_values[names.STALENESS_MEAN] = fmean(rollout_ages) if rollout_ages else 0.0
        outcome.train_values[names.STALENESS_MAX] = float(max(rollout_ages, default=0))
        return outcome

    def finish(self, outcome: StepOutcome) -> None:
        outcome.train_values[names.TRAINER_IDLE_SHARE] = self._trainer.read()
        outcome.train_values[names.SAMPLER_IDLE_SHARE] = self._sampler.read()
