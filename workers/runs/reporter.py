"""Commits a step once: its rows, its announcements and its usage in one fenced transaction."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final, Protocol

import structlog

from app.database import Database, RunUnitOfWork
from app.jobs.jobs import EventLevel, Job, Usage, validating_message
from app.jobs.stop_rules import RuleTrigger, TriggerAction
from app.kit.ids import OrganizationId, ProjectId
from app.kit.telemetry import SPANS
from app.rollouts.metrics import LOSS, REWARD_MEAN, TIME_STEP, drop_non_finite
from app.settings import PricingSettings
from workers.progress import PROGRESS
from workers.runs.context import RunContext
from workers.runs.step_outcome import StepOutcome, Stopping, Values
from workers.runs.step_writer import StepWriter
from workers.telemetry.process_metrics import count_step
from workers.telemetry.spans import record_comparison, record_job, record_step

_RECENT: Final = 20
"""Events that `message_once` searches for its own message."""
_TRIGGER_WORDS: Final = {"warn": "Warning", "pause": "Pausing", "stop": "Ending the job early"}


class StepReport(Protocol):
    def baseline(self, outcome: StepOutcome) -> Sequence[str]: ...

    def validation(self, outcome: StepOutcome) -> str:
        """Describes a validation that was not due when its step was committed."""
        ...

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]: ...

    def makes_checkpoint(self, outcome: StepOutcome) -> bool: ...

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]: ...

    @property
    def nothing_trained(self) -> str:
        """Why a run of this method may end without a trained token, and the correction."""
        ...

    def usage(self, outcome: StepOutcome) -> Usage: ...


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
        await unit.events.append(self._job.id, level=level, message=message, data=data)

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
        """Unless a recent event has the same text: a repeated commit adds no second one."""

        async def write(unit: RunUnitOfWork) -> None:
            recent, _ = await unit.events.page(self._job.id, after=None, limit=_RECENT)
            if all(event.message != message for event in recent):
                await self.message(unit, message, level=level)

        await self._context.in_unit(write)

    async def validating_files(self) -> None:
        await self.message_once(validating_message(self._job))


def _level(action: TriggerAction) -> EventLevel:
    """Returns the level of a rule's event; a job that a rule ended early has succeeded."""
    match action:
        case "stop":
            return "info"
        case "warn" | "pause":
            return "warn"


log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """A step whose values the rules have seen, and that is not committed yet."""

    outcome: StepOutcome
    triggers: tuple[RuleTrigger, ...]


class Reporter:
    def __init__(
        self,
        context: RunContext,
        tuned_name: str,
        *,
        report: StepReport,
        stopping: Stopping,
        trained_effort: str | None = None,
    ) -> None:
        self._context = context
        self.report = report
        self.meter = Meter(context.settings.pricing)
        self.usage = context.job.usage
        """Usage of all committed work."""
        self.stopping = stopping
        self.announcer = Announcer(context, report)
        self.writer = StepWriter(context, tuned_name, trained_effort=trained_effort)

    async def commit_baseline(self, outcome: StepOutcome) -> None:
        outcome = _finite(outcome)
        used = self.meter.reading().plus(self.report.usage(outcome))
        self.stopping.feed_baseline(outcome)

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_validated(unit, 0):
                return await self.writer.usage(unit)
            await self.announcer.baseline(unit, outcome)
            return await self.writer.validation(unit, outcome, used)

        await self._commit(write)
        baseline_committed(self._context.job, outcome)

    async def commit_validation(self, outcome: StepOutcome) -> None:
        """Of the last committed step, where it was not due as that was committed."""
        outcome = _finite(outcome)
        used = self.meter.reading().plus(self.report.usage(outcome))

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_validated(unit, outcome.step):
                return await self.writer.usage(unit)
            last = await unit.jobs.resume_point()
            await self.announcer.validation(unit, outcome)
            total = await self.writer.validation(unit, outcome, used)
            await self.writer.checkpoint(
                unit,
                outcome.step,
                adapter_key=str(last.adapter_key),
                metrics=self.report.checkpoint(outcome),
            )
            return total

        await self._commit(write)

    async def commit_comparison(self, start: StepOutcome, tuned: StepOutcome) -> None:
        """The rollouts that the report compares: the model at the start and the published step."""
        start, tuned = _finite(start), _finite(tuned)
        used = self.meter.reading()
        for outcome in (start, tuned):
            used = used.plus(self.report.usage(outcome))

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_compared(unit, tuned.step):
                return await self.writer.usage(unit)
            return await self.writer.comparison(unit, start, tuned, used)

        await self._commit(write)
        comparison_committed(self._context.job, start, tuned)

    async def was_compared(self, step: int) -> bool:

        return await self._context.in_unit(lambda unit: self.writer.is_compared(unit, step))

    def observe(self, outcome: StepOutcome) -> ObservedStep:
        """Feeds the rules a step that will be committed. Call once for each step, in order."""
        outcome = _finite(outcome)
        return ObservedStep(outcome, tuple(self.stopping.feed(outcome)))

    async def commit_step(self, outcome: StepOutcome, *, total_steps: int, pace_s: float) -> None:
        await self.commit_steps([self.observe(outcome)], total_steps=total_steps, pace_s=pace_s)

    async def commit_steps(
        self, steps: Sequence[ObservedStep], *, total_steps: int, pace_s: float
    ) -> None:
        """Commits successive training steps. The last one has an adapter and a state, from which a
        resume continues. `pace_s`: seconds per step, with its share of validation. Raises
        `ValueError` without an adapter.
        """
        last = steps[-1].outcome
        adapter = last.adapter
        if adapter is None:
            raise ValueError(f"step {last.step} has no adapter to resume from")
        used = self.meter.reading()
        for observed in steps:
            used = used.plus(self.report.usage(observed.outcome))
        remaining_s = (total_steps - last.step) * pace_s

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_committed(unit, last.step):
                return await self.writer.usage(unit)
            for observed in steps:
                await self._write_step(unit, observed, total_steps=total_steps)
            await self.writer.resume_point(
                unit, last.step, adapter, used=used, remaining_s=remaining_s
            )
            return await self.writer.usage(unit)

        await self._commit(write)
        steps_committed(self._context.job, [observed.outcome for observed in steps])
        for observed in steps:
            _log_step(observed.outcome, total_steps)

    async def _write_step(
        self, unit: RunUnitOfWork, observed: ObservedStep, *, total_steps: int
    ) -> None:
        outcome = observed.outcome
        await self.writer.values(unit, outcome)
        await self.announcer.step(
            unit, outcome, total_steps=total_steps, triggers=observed.triggers
        )
        if outcome.adapter is not None and self.report.makes_checkpoint(outcome):
            await self.writer.checkpoint(
                unit,
                outcome.step,
                adapter_key=outcome.adapter.adapter_key,
                metrics=self.report.checkpoint(outcome),
            )

    async def _commit(self, write: Callable[[RunUnitOfWork], Awaitable[Usage | None]]) -> None:
        self.usage = await self._context.in_unit(write)
        PROGRESS.mark("step committed")
        self.meter.start()

    async def was_validated(self, step: int) -> bool:

        return await self._context.in_unit(lambda unit: self.writer.is_validated(unit, step))

    async def has_baseline(self) -> bool:
        return await self.was_validated(0)


def _log_step(outcome: StepOutcome, total_steps: int) -> None:
    log.info(
        "step committed",
        step=outcome.step,
        total_steps=total_steps,
        loss=outcome.train_values.get(LOSS),
        reward=outcome.train_values.get(REWARD_MEAN),
        valid_reward=outcome.valid_values.get(REWARD_MEAN),
        step_s=round(outcome.train_values.get(TIME_STEP, 0.0), 3),
    )


def _finite(outcome: StepOutcome) -> StepOutcome:
    """Drops values that are not finite, before curves, rules, events and usage read them."""
    step, adapter, validation = outcome.step, outcome.adapter, outcome.validation
    if adapter is not None:
        values, _ = _finite_values(step, "publish", adapter.values)
        adapter = replace(adapter, values=values)
    trained, _ = _finite_values(step, "train", outcome.trained.values)
    measured, lost = _finite_values(step, "valid", validation.values)
    warnings = list(validation.warnings)
    if lost:
        warnings.append(f"The validation of step {step} gave no finite value of {', '.join(lost)}.")
    return replace(
        outcome,
        trained=replace(outcome.trained, values=trained),
        adapter=adapter,
        validation=replace(
            validation,
            values=measured,
            seconds=_finite_seconds(validation.seconds),
            warnings=warnings,
            further={
                split: _finite_values(step, split, values)[0]
                for split, values in validation.further.items()
            },
        ),
        seconds=_finite_seconds(outcome.seconds),
    )


def _finite_values(step: int, part: str, values: Values) -> tuple[Values, list[str]]:
    """Returns the finite values, and the names of the others. Leaves `values` unchanged."""
    kept = dict(values)
    dropped = drop_non_finite(kept)
    if dropped:
        log.warning("non-finite metrics dropped", step=step, part=part, names=dropped)
    return kept, dropped


def _finite_seconds(seconds: float | None) -> float | None:
    return seconds if seconds is not None and isfinite(seconds) else None


_HOUR_S: Final = 3600.0


class Meter:
    def __init__(self, pricing: PricingSettings) -> None:
        self._pricing = pricing
        self._since = time.monotonic()
        self.accelerators = 0
        """GPUs of the trainer; set once it is built."""

    def start(self) -> None:
        self._since = time.monotonic()

    def reading(self) -> Usage:
        elapsed_s = time.monotonic() - self._since
        price = self._pricing.per_hour
        return Usage(
            training_time_s=elapsed_s,
            gpu_seconds=elapsed_s * self.accelerators,
            estimated_cost=None if price is None else elapsed_s / _HOUR_S * price,
            currency=None if price is None else self._pricing.currency,
        )


def baseline_committed(job: Job, outcome: StepOutcome) -> None:
    now = time.time()
    record_step(
        job.id,
        0,
        interval=(now - (outcome.validation.seconds or 0.0), now),
        rollouts=[rollout.key for rollout in outcome.validation.scored_rollouts()],
        trained_tokens=0,
    )


def steps_committed(job: Job, outcomes: Iterable[StepOutcome]) -> None:
    for outcome in outcomes:
        seconds, tokens = outcome.seconds, outcome.trained_tokens
        count_step(job.method.kind, seconds=seconds, trained_tokens=tokens)
        ended = outcome.ended_at or time.time()
        rollouts = [*outcome.trained.scored_rollouts(), *outcome.validation.scored_rollouts()]
        record_step(
            job.id,
            outcome.step,
            interval=(ended - (seconds or 0.0), ended),
            rollouts=[rollout.key for rollout in rollouts],
            trained_tokens=tokens,
        )


def comparison_committed(job: Job, *outcomes: StepOutcome) -> None:
    now = time.time()
    seconds = sum(outcome.validation.seconds or 0.0 for outcome in outcomes)
    rollouts = [
        rollout.key for outcome in outcomes for rollout in outcome.validation.scored_rollouts()
    ]
    record_comparison(job.id, interval=(now - seconds, now), rollouts=rollouts)


async def record_ended(database: Database, job: Job) -> None:
    if not SPANS.are_recorded:
        return
    organization, project = OrganizationId(job.organization_id), ProjectId(job.project_id)
    try:
        async with database.project_of(organization, project) as unit:
            record_job(await unit.jobs.get(job.id))
    except Exception:  # boundary of telemetry: no fault of it may end a run otherwise
        log.exception("job's span not recorded", job_id=job.id)
