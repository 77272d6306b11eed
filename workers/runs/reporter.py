"""The reporter: commits a step once, its rows and its announcements in one fenced transaction.

Owns the order of a commit and its idempotence: a commit whose answer was lost is repeated and
writes nothing twice. The rows are `StepWriter`'s, the events `Announcer`'s. Must not know who
follows the committed events.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import isfinite

import structlog

from app.domain.jobs.usage import Usage
from app.domain.rollouts.metrics import LOSS, REWARD_MEAN, TIME_STEP, drop_non_finite
from workers.processes.retry import retry_while_unavailable
from workers.progress import PROGRESS
from workers.runs.announcer import Announcer, StepReport
from workers.runs.context import RunContext
from workers.runs.metering import Meter
from workers.runs.step_outcome import StepOutcome, Values
from workers.runs.step_writer import StepWriter
from workers.runs.stopping import Stopping

log = structlog.get_logger()


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

    async def commit_validation(self, outcome: StepOutcome) -> None:
        """Commits the validation of the last committed step, which was not due at its commit."""
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

    async def commit_step(self, outcome: StepOutcome, *, total_steps: int, pace_s: float) -> None:
        """Commits a training step. `pace_s`: seconds a step takes, with its share of validation.
        Raises `ValueError` for a step without an adapter.
        """
        outcome = _finite(outcome)
        adapter = outcome.adapter
        if adapter is None:
            raise ValueError(f"step {outcome.step} has no adapter to resume from")
        used = self.meter.reading().plus(self.report.usage(outcome))
        triggers = self.stopping.feed(outcome)
        remaining_s = (total_steps - outcome.step) * pace_s

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                if await self.writer.is_committed(unit, outcome.step):
                    return await self.writer.usage(unit)
                await self.writer.values(unit, outcome)
                await self.announcer.step(unit, outcome, total_steps=total_steps, triggers=triggers)
                if self.report.makes_checkpoint(outcome):
                    await self.writer.checkpoint(
                        unit,
                        outcome.step,
                        adapter_key=adapter.adapter_key,
                        metrics=self.report.checkpoint(outcome),
                    )
                await self.writer.resume_point(
                    unit, outcome.step, adapter, used=used, remaining_s=remaining_s
                )
                return await self.writer.usage(unit)

        await self._commit(write)
        log.info(
            "step committed",
            step=outcome.step,
            total_steps=total_steps,
            loss=outcome.train_values.get(LOSS),
            reward=outcome.train_values.get(REWARD_MEAN),
            valid_reward=outcome.valid_values.get(REWARD_MEAN),
            step_s=round(outcome.train_values.get(TIME_STEP, 0.0), 3),
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


def _finite(outcome: StepOutcome) -> StepOutcome:
    """Drops values that no curve, rule, event or usage can use, before any of them gets them."""
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
