"""The outcome of one step, in parts: one module writes each part, and none is changed later.

`TrainedStep` comes from a scheduler or the supervised loop, `PublishedAdapter` from the publisher,
`Validation` from an evaluation; the loop of a method composes the `StepOutcome` that the reporter
commits. Plain data. Must not know how a method trains: a method with rollouts extends the parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.ids import Split
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import MetricPoint
from app.domain.rollouts.trajectory import ScoredRollout

Values = dict[str, float]
"""Curve values by name."""


@dataclass(frozen=True, slots=True)
class TrainedStep:
    step: int
    values: Values = field(default_factory=dict)
    """Values of the training split."""
    trained_tokens: int = 0
    probe: Sequence[int] = ()
    """Tokens on which engine and trainer are compared once the adapter is published."""
    scheduler_state: dict[str, Any] | None = None
    """JSON that the next step's scheduler resumes from; committed with the step."""

    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        """Returns the step's training rollouts; a method without rollouts has none."""
        return ()


@dataclass(frozen=True, slots=True)
class PublishedAdapter:
    """Object keys of a step's files, written before the step is committed."""

    adapter_key: str
    state_key: str
    engine_name: str | None = None
    """The adapter's name in the engine; `None` for a step that the engine does not serve."""
    values: Values = field(default_factory=dict)
    """The publisher's own values of the training split."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Held-out rows measured under a step's adapter: all of them, or a few of a supervised run."""

    values: Values = field(default_factory=dict)
    """Values of the validation split."""
    seconds: float | None = None
    """Duration, where all rows were measured."""
    warnings: Sequence[str] = ()
    """Messages about the validation for the job's events."""
    further: Mapping[Split, Values] = field(default_factory=dict)
    """Values of further splits that were measured with it."""

    def scored_rollouts(self) -> Sequence[ScoredRollout]:
        """Returns the validation's rollouts; a method without rollouts has none."""
        return ()


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Everything that one transaction commits. Without `adapter` it is a validation alone: of the
    base model (step 0) or of the last committed step.
    """

    trained: TrainedStep
    adapter: PublishedAdapter | None = None
    validation: Validation = field(default_factory=Validation)
    seconds: float | None = None
    """Duration of the whole step, publishing and validation included."""
    ended_at: float | None = None
    """End of that time, in Unix seconds."""

    @property
    def step(self) -> int:
        return self.trained.step

    @property
    def trained_tokens(self) -> int:
        """Tokens that moved the adapter; none where the step's update was left out."""
        return 0 if self.train_values.get(names.SKIPPED_STEPS) else self.trained.trained_tokens

    @property
    def train_values(self) -> Values:
        published: Values = {} if self.adapter is None else self.adapter.values
        durations = {names.TIME_EVAL: self.validation.seconds, names.TIME_STEP: self.seconds}
        measured = {name: value for name, value in durations.items() if value is not None}
        return {**self.trained.values, **published, **measured}

    @property
    def valid_values(self) -> Values:
        return self.validation.values

    def points(self) -> list[MetricPoint]:
        """Returns the points of all curves. The last of two points with the same key counts."""
        splits: list[tuple[Split, Values]] = [
            ("train", self.train_values),
            ("valid", self.valid_values),
            *self.validation.further.items(),
        ]
        return [
            MetricPoint(name, split, self.step, value)
            for split, values in splits
            for name, value in sorted(values.items())
        ]
