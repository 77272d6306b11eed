"""The outcome of one step, in parts: one module writes each part, and none is changed later.
`TrainedStep` comes from a scheduler or the supervised loop, `PublishedAdapter` from the publisher,
`Validation` from an evaluation. `Stopping` decides from them whether the run ends.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.database import RunUnitOfWork
from app.jobs.stop_options import StopOptions
from app.jobs.stop_rules import ObjectiveCurves, RuleTrigger, Watch, decisive_trigger, names_read
from app.kit.directories import commit_directory, verify_directory
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.rollouts.trajectory import ScoredRollout
from workers.runs.context import RunContext

Values = dict[str, float]


@dataclass(frozen=True, slots=True)
class TrainedStep:
    step: int
    values: Values = field(default_factory=dict)
    trained_tokens: int = 0
    probe: Sequence[int] = ()
    """Tokens on which engine and trainer are compared once the adapter is published."""
    scheduler_state: dict[str, Any] | None = None

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


@dataclass(frozen=True, slots=True)
class Validation:
    """Held-out rows measured under a step's adapter: all of them, or a few of a supervised run."""

    values: Values = field(default_factory=dict)
    seconds: float | None = None
    """Duration, where all rows were measured."""
    warnings: Sequence[str] = ()
    further: Mapping[Split, Values] = field(default_factory=dict)

    def scored_rollouts(self) -> Sequence[ScoredRollout]:
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
    ended_at: float | None = None

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


_FILE: Final = "scheduler.json"


def save_scheduler_state(directory: Path, state: dict[str, Any]) -> None:
    with commit_directory(directory) as partial:
        (partial / _FILE).write_text(json.dumps(state) + "\n", encoding="utf-8")


def load_scheduler_state(directory: Path) -> dict[str, Any]:
    """Loads the state of a step. Raises `ManifestMismatch` if it differs from the committed one."""
    verify_directory(directory)
    state: dict[str, Any] = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return state


_PAGE: Final = 100
PAUSED_BY: Final = "paused_by_rule"

Curves = dict[int, dict[Split, dict[str, float]]]


class StoppedEarly(Exception):
    def __init__(self, trigger: RuleTrigger) -> None:
        super().__init__(trigger.reason)
        self.trigger = trigger


class Stopping:
    def __init__(
        self, context: RunContext, options: StopOptions, *, watched: ObjectiveCurves
    ) -> None:
        self._context = context
        self._options = options
        self._watched = watched
        self._watch = Watch(self._options, self._watched)
        self._due: RuleTrigger | None = None

    @property
    def due(self) -> RuleTrigger | None:
        return self._due

    async def load(self) -> None:
        """Feeds the rules every committed step. Call before the first step of a claim."""

        async def read(unit: RunUnitOfWork) -> tuple[int, Curves, bool]:
            step = (await unit.jobs.resume_point()).step
            curves = await self._curves(unit)
            return step, curves, await self._was_paused_at(unit, step)

        committed, curves, was_paused = await self._context.in_unit(read)
        self._watch = Watch(self._options, self._watched)
        triggers: list[RuleTrigger] = []
        for step in range(committed + 1):
            values = curves[step]
            triggers += self._watch.feed(step, values["train"], values["valid"])
        self._due = decisive_trigger(
            [
                trigger
                for trigger in triggers
                if trigger.action == "stop" or (trigger.step == committed and not was_paused)
            ]
        )

    def feed(self, outcome: StepOutcome) -> list[RuleTrigger]:
        """Of a step that will be committed, once per step. Returns the triggered rules."""
        triggers = self._watch.feed(outcome.step, outcome.train_values, outcome.valid_values)
        if self._due is None or self._due.action != "stop":
            self._due = decisive_trigger(triggers) or self._due
        return triggers

    def feed_baseline(self, outcome: StepOutcome) -> None:
        self._watch.feed(0, {}, outcome.valid_values)

    async def _curves(self, unit: RunUnitOfWork) -> Curves:
        existing = await unit.metrics.names(self._context.job.id)
        points = await unit.metrics.curve(
            self._context.job.id,
            names=list(names_read(self._options, self._watched, existing)),
            split=None,
            after_step=None,
        )
        curves: Curves = defaultdict(lambda: {"train": {}, "valid": {}})
        for point in points:
            curves[point.step].setdefault(point.split, {})[point.name] = point.value
        return curves

    async def _was_paused_at(self, unit: RunUnitOfWork, step: int) -> bool:
        after, more = None, True
        while more:
            page, more = await unit.events.page(self._context.job.id, after=after, limit=_PAGE)
            for event in page:
                if event.type == "metrics":
                    return False
                if event.data is not None and PAUSED_BY in event.data:
                    return bool(event.data["step"] == step)
                after = event.id
        return False
