"""The parts of a step's outcome that have rollouts. Plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from app.domain.rollouts.trajectory import ScoredRollout
from workers.runs.steps.step_outcome import TrainedStep, Validation


@dataclass(frozen=True, slots=True)
class SampledStep(TrainedStep):
    """A step as its scheduler sampled and trained it."""

    rollouts: Sequence[ScoredRollout] = ()

    @override
    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        return self.rollouts


@dataclass(frozen=True, slots=True)
class SampledValidation(Validation):
    rollouts: Sequence[ScoredRollout] = ()
    """Rollouts of the split `valid`, at the job's temperature of validations."""
    further_rollouts: Sequence[ScoredRollout] = ()
    """Greedy rollouts, and those of a base model that the job does not start from."""

    @override
    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        return [*self.rollouts, *self.further_rollouts]
