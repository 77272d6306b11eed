"""Measures a step for every mode: its groups, the age of its rollouts, and the idle shares."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from app.domain.rollouts import metrics as names
from workers.reinforcement.schedulers.groups import (
    PreparedGroup,
    group_counts,
    objective_means,
    rollouts_of,
    samples_of,
)
from workers.reinforcement.steps.outcome import SampledStep
from workers.reinforcement.steps.summary import summarise
from workers.rollout.busy_clock import BusyClock, IdleShare


class StepReading:
    """Measures one step after the other.

    Idle shares run from the end of one step to the end of the next, so that publishing, evaluating
    and committing count as time in which nothing is trained.
    """

    def __init__(self, sampler_clock: BusyClock) -> None:
        self.trainer_clock = BusyClock()
        self._trainer = IdleShare(self.trainer_clock)
        self._sampler = IdleShare(sampler_clock)

    def sampled_step(
        self,
        step: int,
        groups: Sequence[PreparedGroup],
        *,
        values: Mapping[str, float],
        ages: Sequence[int] = (),
        scheduler_state: dict[str, Any] | None = None,
    ) -> SampledStep:
        """Builds the step once it is trained. `values` are the mode's own: times and the update's
        statistics. `ages` are in versions, one for each group; without them all groups are
        on-policy.
        """
        rollouts = rollouts_of(groups)
        tokens = sum(sample.trained_tokens for sample in samples_of(groups))
        rollout_ages = [
            age
            for group, age in zip(groups, ages or [0] * len(groups), strict=True)
            for _ in group.scored.rollouts
        ]
        return SampledStep(
            step,
            {
                **summarise(rollouts),
                **group_counts(groups),
                **objective_means(groups),
                **values,
                names.TRAINED_TOKENS: float(tokens),
                names.STALENESS_MEAN: fmean(rollout_ages) if rollout_ages else 0.0,
                names.STALENESS_MAX: float(max(rollout_ages, default=0)),
                names.TRAINER_IDLE_SHARE: self._trainer.read(),
                names.SAMPLER_IDLE_SHARE: self._sampler.read(),
            },
            trained_tokens=tokens,
            probe=rollouts[0].trajectory.tokens if rollouts else (),
            scheduler_state=scheduler_state,
            rollouts=[rollout for group in groups for rollout in group.trained_rollouts],
        )
