"""The announcer: appends a job's events (messages, metrics, warnings, rule triggers) to its list.

Owns the messages and the data of the events that a run writes about its steps. Promises that an
event is written in the transaction that commits its subject: both exist, or neither does. Must not
know rollouts, curves, checkpoints, usage or the readers of events.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol, assert_never

from app.domain.jobs.jobs import EventLevel, validating_message
from app.domain.jobs.stop_rules.stop_rules import RuleTrigger, TriggerAction
from app.domain.jobs.usage import Usage
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.steps.step_outcome import StepOutcome

_RECENT: Final = 20
"""Events that `message_once` searches for its own message."""
_TRIGGER_WORDS: Final = {"warn": "Warning", "pause": "Pausing", "stop": "Ending the job early"}


class StepReport(Protocol):
    """Describes the steps of one training method, with the messages and keys of the hosted API."""

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        """Describes the validation before the first step, one message for each model."""
        ...

    def validation(self, outcome: StepOutcome) -> str:
        """Describes a validation that was not due when its step was committed."""
        ...

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        """Returns the message and the data of the event of type `metrics`."""
        ...

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        """Returns whether the step becomes a checkpoint."""
        ...

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        """Returns the metrics of the step's checkpoint."""
        ...

    @property
    def nothing_trained(self) -> str:
        """Returns the reason why a run of this method may end without a trained token, and the
        correction.
        """
        ...

    def usage(self, outcome: StepOutcome) -> Usage:
        """Returns the amounts of the step, apart from the run's wall time."""
        ...


class Announcer:
    def __init__(self, context: RunContext, report: StepReport) -> None:
        self._context = context
        self._job = context.job
        self._report = report

    async def message(
        self,
        unit: RunUnitOfWork,
        message: str,
        *,
        level: EventLevel = "info",
        data: dict[str, Any] | None = None,
    ) -> None:
        await unit.events.append(
            self._job.id, level=level, type="message", message=message, data=data
        )

    async def baseline(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        *first, last = self._report.baseline(outcome)
        for message in first:
            await self.message(unit, message)
        await self.message(unit, last, data={"step": outcome.step})
        await self._warnings(unit, outcome)

    async def validation(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        data = {"step": outcome.step}
        await self.message(unit, self._report.validation(outcome), data=data)
        await self._warnings(unit, outcome)

    async def step(
        self,
        unit: RunUnitOfWork,
        outcome: StepOutcome,
        *,
        total_steps: int,
        triggers: Sequence[RuleTrigger],
    ) -> None:
        """Announces a step: its metrics, then its warnings, then the rules it triggered."""
        message, data = self._report.step(outcome, total_steps)
        await unit.events.append(
            self._job.id, level="info", type="metrics", message=message, data=data
        )
        await self._warnings(unit, outcome)
        for trigger in triggers:
            await self._trigger(unit, trigger)

    async def _warnings(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        for message in outcome.validation.warnings:
            await self.message(unit, message, level="warn")

    async def _trigger(self, unit: RunUnitOfWork, trigger: RuleTrigger) -> None:
        await self.message(
            unit,
            f"{_TRIGGER_WORDS[trigger.action]} after step {trigger.step} by the rule "
            f"'{trigger.rule}': {trigger.reason}",
            level=_level(trigger.action),
            data={"stop_rule": trigger.rule, **trigger.to_json()},
        )

    async def message_once(self, message: str, *, level: EventLevel = "info") -> None:
        """Appends a message in a transaction of its own, unless a recent event has the same text: a
        repeated claim or commit adds no second event.
        """

        async def write() -> None:
            async with self._context.unit() as unit:
                recent, _ = await unit.events.page(self._job.id, after=None, limit=_RECENT)
                if all(event.message != message for event in recent):
                    await self.message(unit, message, level=level)

        await retry_while_unavailable(write)

    async def validating_files(self) -> None:
        await self.message_once(validating_message(self._job))


def _level(action: TriggerAction) -> EventLevel:
    """Returns the level of a rule's event; a job that a rule ended early has succeeded."""
    match action:
        case "stop":
            return "info"
        case "warn" | "pause":
            return "warn"
        case _:
            assert_never(action)
