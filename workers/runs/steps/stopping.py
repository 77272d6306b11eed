"""Applies the rules that end a run early to its committed curves.

Owns the time at which a trigger takes effect: its event is written with the step that caused it,
and the run stops or pauses before the next step. Promises that a kill changes nothing: the rules
are fed the committed curves again, a committed stop is carried out, and so is a pause unless the
job was already paused for it. Must not know the curves that a rule reads or how a run is trained.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from app.domain.ids import Split
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves
from app.domain.jobs.stop_rules.stop_rules import RuleTrigger, Watch, decisive_trigger, names_read
from app.domain.methods.stop import StopOptions
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.steps.step_outcome import StepOutcome

_PAGE: Final = 100
PAUSED_BY: Final = "paused_by_rule"
"""Key in the event data of a pause by a rule."""

Curves = dict[int, dict[Split, dict[str, float]]]


class StoppedEarly(Exception):
    """Raised between two steps: a rule ends the job, which succeeds with its best checkpoint."""

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
        """The stop or pause to carry out before the next step."""
        return self._due

    async def load(self) -> None:
        """Feeds the rules every committed step. Call before the first step of a claim."""

        async def read() -> tuple[int, Curves, bool]:
            async with self._context.unit() as unit:
                step = (await unit.jobs.resume_point()).step
                curves = await self._curves(unit)
                return step, curves, await self._was_paused_at(unit, step)

        committed, curves, was_paused = await retry_while_unavailable(read)
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
        """Feeds the rules a step that is about to be committed; returns the triggered rules. Call
        once per step.
        """
        triggers = self._watch.feed(outcome.step, outcome.train_values, outcome.valid_values)
        self._set_due(triggers)
        return triggers

    def feed_baseline(self, outcome: StepOutcome) -> None:
        """Feeds the rules the base model's validation."""
        self._watch.feed(0, {}, outcome.valid_values)

    def _set_due(self, triggers: Sequence[RuleTrigger]) -> None:
        if self._due is None or self._due.action != "stop":
            self._due = decisive_trigger(triggers) or self._due

    async def _curves(self, unit: RunUnitOfWork) -> Curves:
        points = await unit.metrics.curve(
            self._context.job.id,
            names=list(names_read(self._options, self._watched)),
            split=None,
            after_step=None,
        )
        curves: Curves = defaultdict(lambda: {"train": {}, "valid": {}})
        for point in points:
            curves[point.step].setdefault(point.split, {})[point.name] = point.value
        return curves

    async def _was_paused_at(self, unit: RunUnitOfWork, step: int) -> bool:
        """Returns true if a rule has paused the job since `step` was committed."""
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
