"""The reporter: commits a step once, its rows and its announcements in one fenced transaction.

Owns the order of a commit and its idempotence: a commit whose answer was lost is repeated and
writes nothing twice. The rows are `StepWriter`'s, the events `Announcer`'s. Must not know the
readers of committed events.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import structlog

from app.domain.jobs.stop_rules.stop_rules import RuleTrigger
from app.domain.jobs.usage import Usage
from app.domain.rollouts.metrics import LOSS, REWARD_MEAN, TIME_STEP, drop_non_finite
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.progress import PROGRESS
from workers.runs.context import RunContext
from workers.runs.step_telemetry import baseline_committed, comparison_committed, steps_committed
from workers.runs.steps.announcer import Announcer, StepReport
from workers.runs.steps.metering import Meter
from workers.runs.steps.step_outcome import StepOutcome, Values
from workers.runs.steps.step_writer import StepWriter
from workers.runs.steps.stopping import Stopping

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
        """Commits step 0: the base model's validation, before the first training step."""
        outcome = _finite(outcome)
        used = self.meter.reading().plus(self.report.usage(outcome))
        self.stopping.feed_baseline(outcome)

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                if await self.writer.is_validated(unit, 0):
                    return await self.writer.usage(unit)
                await self.announcer.baseline(unit, outcome)
                return await self.writer.validation(unit, outcome, used)

        await self._commit(write)
        baseline_committed(self._context.job, outcome)

    async def commit_validation(self, outcome: StepOutcome) -> None:
        """Commits a validation of the last committed step that was not due when the step was
        committed.
        """
        outcome = _finite(outcome)
        used = self.meter.reading().plus(self.report.usage(outcome))

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
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
        """Commits the rollouts that the report compares, of the model at the start and of the
        published step.
        """
        start, tuned = _finite(start), _finite(tuned)
        used = self.meter.reading()
        for outcome in (start, tuned):
            used = used.plus(self.report.usage(outcome))

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                if await self.writer.is_compared(unit, tuned.step):
                    return await self.writer.usage(unit)
                return await self.writer.comparison(unit, start, tuned, used)

        await self._commit(write)
        comparison_committed(self._context.job, start, tuned)

    async def was_compared(self, step: int) -> bool:
        """Returns whether the rollouts of a report that publishes `step` are committed."""

        async def read() -> bool:
            async with self._context.unit() as unit:
                return await self.writer.is_compared(unit, step)

        return await retry_while_unavailable(read)

    def observe(self, outcome: StepOutcome) -> ObservedStep:
        """Feeds the rules a step that will be committed. Call once for each step, in order."""
        outcome = _finite(outcome)
        return ObservedStep(outcome, tuple(self.stopping.feed(outcome)))

    async def commit_step(self, outcome: StepOutcome, *, total_steps: int, pace_s: float) -> None:
        """Commits a training step, see `commit_steps`."""
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

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
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

    async def _commit(self, write: Callable[[], Awaitable[Usage | None]]) -> None:
        self.usage = await retry_while_unavailable(write)
        PROGRESS.mark("step committed")
        self.meter.start()

    async def was_validated(self, step: int) -> bool:
        """Returns whether a committed step has its validation; step 0 is the base model's."""

        async def read() -> bool:
            async with self._context.unit() as unit:
                return await self.writer.is_validated(unit, step)

        return await retry_while_unavailable(read)

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
