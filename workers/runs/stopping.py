"""The rules that end a run early, fed with what was committed.

Owns when a rule's finding is acted upon: its event is written with the step it judges, the run
stops or pauses before the next step. Promises that a kill changes nothing: the rules are fed the
committed curves again, a stop that was written is carried out, and so is a pause unless the job was
paused for it already. Must not know what a rule looks at, nor how a run is trained.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from app.domain.ids import Split
from app.domain.jobs.stop_rules import LOSSES, REWARD, RuleTrigger, Watch, gravest, names_read
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.stop import ReinforcementStopOptions, StopOptions
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.step_outcome import StepOutcome

_PAGE: Final = 100
PAUSED_BY: Final = "paused_by_rule"
"""Key in the data of the event of a pause that a rule made."""

Curves = dict[int, dict[Split, dict[str, float]]]


class StoppedEarly(Exception):
    """Raised between two steps: a rule ends the job, which succeeds with what it has."""

    def __init__(self, finding: RuleTrigger) -> None:
        super().__init__(finding.reason)
        self.finding = finding


class Stopping:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._options = _options(context)
        reinforced = isinstance(context.method, ReinforcementMethod)
        self._watched = REWARD if reinforced else LOSSES
        self._watch = Watch(self._options, self._watched)
        self._due: RuleTrigger | None = None

    @property
    def due(self) -> RuleTrigger | None:
        """A stop or a pause that is to be carried out before the next step."""
        return self._due

    async def load(self) -> None:
        """Before the first step of a claim: be where the last committed step left the rules."""

        async def read() -> tuple[int, Curves, bool]:
            async with self._context.unit() as unit:
                step, _, _ = await unit.jobs.resume_point()
                curves = await self._curves(unit)
                return step, curves, await self._was_paused_at(unit, step)

        committed, curves, was_paused = await retry_while_unavailable(read)
        self._watch = Watch(self._options, self._watched)
        found: list[RuleTrigger] = []
        for step in range(committed + 1):
            values = curves[step]
            found += self._watch.feed(step, values["train"], values["valid"])
        self._due = gravest(
            [
                one
                for one in found
                if one.action == "stop" or (one.step == committed and not was_paused)
            ]
        )

    def judge(self, outcome: StepOutcome) -> list[RuleTrigger]:
        """What the rules say of a step that is about to be committed; call once for each."""
        found = self._watch.feed(outcome.step, outcome.train_values, outcome.valid_values)
        self._note(found)
        return found

    def baseline(self, outcome: StepOutcome) -> None:
        """Show the rules the base model's validation."""
        self._watch.feed(0, {}, outcome.valid_values)

    def _note(self, found: Sequence[RuleTrigger]) -> None:
        if self._due is None or self._due.action != "stop":
            self._due = gravest(found) or self._due

    async def _curves(self, unit: RunUnitOfWork) -> Curves:
        points = await unit.metrics.curve(
            self._context.job.id,
            names=list(names_read(self._options, self._watched)),
            split=None,
            after_step=None,
        )
        curves: Curves = defaultdict(lambda: {"train": {}, "valid": {}})
        for point in points:
            curves[point.step][point.split][point.name] = point.value
        return curves

    async def _was_paused_at(self, unit: RunUnitOfWork, step: int) -> bool:
        """Whether a rule has paused the job since that step was committed."""
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


def _options(context: RunContext) -> StopOptions:
    method: Any = context.method
    default = ReinforcementStopOptions if isinstance(method, ReinforcementMethod) else StopOptions
    options: StopOptions = method.stop or default()
    return options
