"""Commits a step once: its rows, its announcements and its usage in one fenced transaction."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import isfinite
from typing import Any, Final, Protocol

import structlog

from app.database import Database, RunUnitOfWork
from app.jobs.jobs import Checkpoint, EventLevel, Job, Usage
from app.jobs.learning import MAX_LOG_RATIO
from app.jobs.results import kept_steps
from app.jobs.stop_options import KeepCheckpoints
from app.jobs.stop_rules import GOOD_NEWS, RuleTrigger
from app.kit.ids import REPORT, OrganizationId, ProjectId, new_id
from app.kit.telemetry import SPANS
from app.models.models import TunedModel, checkpoint_model_name
from app.rollouts.metrics import (
    LOSS,
    REWARD_MEAN,
    ROLLOUTS_VALID,
    TIME_EVAL,
    TIME_STEP,
    drop_non_finite,
)
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import (
    EnvironmentStep,
    RecordedTurn,
    ScoredRollout,
    TokenRecord,
    ToolCallRecord,
    Turn,
)
from app.settings import PricingSettings
from workers.progress import PROGRESS
from workers.runs.context import RunContext
from workers.runs.step_outcome import PublishedAdapter, StepOutcome, Stopping, Values
from workers.telemetry.process_metrics import count_step
from workers.telemetry.spans import record_comparison, record_job, record_step

_RECENT: Final = 20
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
        self.stopping = stopping
        self._job_id = context.job.id
        self.writer = StepWriter(context, tuned_name, trained_effort=trained_effort)

    async def message(
        self,
        unit: RunUnitOfWork,
        message: str,
        *,
        level: EventLevel = "info",
        data: dict[str, Any] | None = None,
    ) -> None:
        await unit.events.append(self._job_id, level=level, message=message, data=data)

    async def message_once(self, message: str, *, level: EventLevel = "info") -> None:
        """Unless a recent event has the same text: a repeated commit adds no second one."""

        async def write(unit: RunUnitOfWork) -> None:
            recent, _ = await unit.events.page(self._job_id, after=None, limit=_RECENT)
            if all(event.message != message for event in recent):
                await self.message(unit, message, level=level)

        await self._context.in_unit(write)

    async def _warn(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        for message in outcome.validation.warnings:
            await self.message(unit, message, level="warn")

    def _used(self, *outcomes: StepOutcome) -> Usage:
        used = self.meter.reading()
        for outcome in outcomes:
            used = used.plus(self.report.usage(outcome))
        return used

    async def commit_baseline(self, outcome: StepOutcome) -> None:
        outcome = _finite(outcome)
        used = self._used(outcome)
        self.stopping.feed_baseline(outcome)

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_validated(unit, 0):
                return await self.writer.usage(unit)
            *first, last = self.report.baseline(outcome)
            for message in first:
                await self.message(unit, message)
            await self.message(unit, last, data={"step": outcome.step})
            await self._warn(unit, outcome)
            return await self.writer.validation(unit, outcome, used)

        await self._commit(write)
        now = time.time()
        record_step(
            self._context.job.id,
            0,
            interval=(now - (outcome.validation.seconds or 0.0), now),
            rollouts=[rollout.key for rollout in outcome.validation.scored_rollouts()],
            trained_tokens=0,
        )

    async def commit_validation(self, outcome: StepOutcome) -> None:
        """Of the last committed step, where it was not due as that was committed."""
        outcome = _finite(outcome)
        used = self._used(outcome)

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_validated(unit, outcome.step):
                return await self.writer.usage(unit)
            last = await unit.jobs.resume_point()
            message, data = self.report.validation(outcome), {"step": outcome.step}
            await self.message(unit, message, data=data)
            await self._warn(unit, outcome)
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
        used = self._used(start, tuned)

        async def write(unit: RunUnitOfWork) -> Usage | None:
            if await self.writer.is_compared(unit, tuned.step):
                return await self.writer.usage(unit)
            return await self.writer.comparison(unit, start, tuned, used)

        await self._commit(write)
        now, both = time.time(), (start.validation, tuned.validation)
        began = now - sum(validation.seconds or 0.0 for validation in both)
        rollouts = [one.key for validation in both for one in validation.scored_rollouts()]
        record_comparison(self._context.job.id, interval=(began, now), rollouts=rollouts)

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
        used = self._used(*(observed.outcome for observed in steps))
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
        for observed in steps:
            _count_step(self._context.job, observed.outcome)
            _log_step(observed.outcome, total_steps)

    async def _write_step(
        self, unit: RunUnitOfWork, observed: ObservedStep, *, total_steps: int
    ) -> None:
        outcome = observed.outcome
        await self.writer.values(unit, outcome)
        message, data = self.report.step(outcome, total_steps)
        await unit.events.append(
            self._job_id, level="info", type="metrics", message=message, data=data
        )
        await self._warn(unit, outcome)
        for trigger in observed.triggers:
            is_good = trigger.rule in GOOD_NEWS and trigger.action == "warn"
            words = "Good news" if is_good else _TRIGGER_WORDS[trigger.action]
            await self.message(
                unit,
                f"{words} after step {trigger.step} by the rule '{trigger.rule}': {trigger.reason}",
                # A job that a rule ended early has succeeded.
                level="info" if is_good or trigger.action == "stop" else "warn",
                data={"stop_rule": trigger.rule, **trigger.to_json()},
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


def _count_step(job: Job, outcome: StepOutcome) -> None:
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


async def record_ended(database: Database, job: Job) -> None:
    if not SPANS.are_recorded:
        return
    organization, project = OrganizationId(job.organization_id), ProjectId(job.project_id)
    try:
        async with database.project_of(organization, project) as unit:
            record_job(await unit.jobs.get(job.id))
    except Exception:  # boundary of telemetry: no fault of it may end a run otherwise
        log.exception("job's span not recorded", job_id=job.id)


_VALIDATION_CURVES: Final = [ROLLOUTS_VALID, REWARD_MEAN, LOSS]
"""A point of the validation split on one of these belongs to a validation on all rows."""


class StepWriter:
    def __init__(self, context: RunContext, tuned_name: str, *, trained_effort: str | None) -> None:
        self._context = context
        self._job = context.job
        self._tuned_name = tuned_name
        self._trained_effort = trained_effort

    async def is_committed(self, unit: RunUnitOfWork, step: int) -> bool:
        return (await unit.jobs.resume_point()).step >= step

    async def is_validated(self, unit: RunUnitOfWork, step: int) -> bool:
        """Its duration is a point of the training split, even if no value was finite."""
        points = await unit.metrics.curve(
            self._job.id, names=[*_VALIDATION_CURVES, TIME_EVAL], split=None, after_step=step - 1
        )
        return any(
            point.step == step and (point.split == "valid" or point.name == TIME_EVAL)
            for point in points
        )

    async def is_compared(self, unit: RunUnitOfWork, step: int) -> bool:
        points = await unit.metrics.curve(
            self._job.id, names=[ROLLOUTS_VALID], split=REPORT, after_step=step - 1
        )
        return any(point.step == step for point in points)

    async def usage(self, unit: RunUnitOfWork) -> Usage | None:
        return (await unit.jobs.get(self._job.id)).usage

    async def validation(self, unit: RunUnitOfWork, outcome: StepOutcome, used: Usage) -> Usage:
        await self.values(unit, outcome)
        await unit.journal.forget(self._job.id, outcome.step)
        return await unit.jobs.add_usage(used)

    async def comparison(
        self, unit: RunUnitOfWork, start: StepOutcome, tuned: StepOutcome, used: Usage
    ) -> Usage:
        """Its duration is no point of the curve of steps. Returns the job's usage."""
        for outcome in (start, tuned):
            untimed = replace(outcome.validation, seconds=None)
            await self.values(unit, replace(outcome, validation=untimed))
        return await unit.jobs.add_usage(used)

    async def values(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        rows, tokens = await asyncio.to_thread(self._rows, outcome)
        await unit.rollouts.insert_many(self._job.id, rows, tokens)
        await unit.metrics.upsert(self._job.id, outcome.points())

    def _rows(self, outcome: StepOutcome) -> tuple[list[RolloutRow], dict[str, TokenRecord]]:
        """Takes seconds for a million tokens."""
        rows, tokens = list[RolloutRow](), dict[str, TokenRecord]()
        for rollout, trained_step in _rollouts(outcome):
            row = rollout_row(rollout, project_id=self._job.project_id, trained_step=trained_step)
            rows.append(row)
            if (record := token_record(rollout)) is not None:
                tokens[row.id] = record
        return rows, tokens

    async def checkpoint(
        self, unit: RunUnitOfWork, step: int, *, adapter_key: str, metrics: dict[str, float]
    ) -> None:
        """Writes the checkpoint and its model, and drops the checkpoints that retention ends."""
        name = checkpoint_model_name(self._tuned_name, step)
        await unit.checkpoints.insert(
            Checkpoint(
                id=new_id("ftckpt_"),
                job_id=self._job.id,
                step=step,
                created_at=int(time.time()),
                model_name=name,
                metrics=metrics,
            ),
            object_key=adapter_key,
        )
        await unit.models.insert(self.tuned_model(name, step, adapter_key))
        await self._drop_checkpoints(unit)

    async def last_checkpoint(self, unit: RunUnitOfWork) -> str | None:
        """So that a paused job can be tried. `None` if there is one, or nothing was trained."""
        last = await unit.jobs.resume_point()
        made = await unit.checkpoints.kept(self._job.id)
        trained = (await unit.jobs.get(self._job.id)).trained_tokens
        if last.adapter_key is None or last.step in made or not trained:
            return None
        await self.checkpoint(unit, last.step, adapter_key=last.adapter_key, metrics={})
        await self._drop_checkpoints(unit, last.step)
        return checkpoint_model_name(self._tuned_name, last.step)

    async def _drop_checkpoints(self, unit: RunUnitOfWork, *needed: int) -> None:
        """Hides checkpoints that are neither among the best nor among the newest, nor `needed`."""
        kept = kept_steps(
            await unit.checkpoints.all(self._job.id),
            self._context.method.keep_checkpoints or KeepCheckpoints(),
            needed={*needed, *await unit.checkpoints.needed(self._job.id)},
        )
        await unit.jobs.mark_retained(kept)

    async def resume_point(
        self,
        unit: RunUnitOfWork,
        step: int,
        adapter: PublishedAdapter,
        *,
        used: Usage,
        remaining_s: float,
    ) -> None:
        await unit.jobs.commit_step(
            step,
            resume_key=adapter.state_key,
            adapter_key=adapter.adapter_key,
            usage=used,
            estimated_finish=int(time.time() + remaining_s),
        )
        await unit.journal.forget(self._job.id, step)

    def tuned_model(self, name: str, step: int, adapter_key: str) -> TunedModel:
        """Returns a model row; its engine name is new, so no engine has cached anything for it."""
        return TunedModel(
            name=name,
            project_id=self._job.project_id,
            job_id=self._job.id,
            base_model=self._context.base_model.name,
            engine_name=new_id("model-"),
            object_key=adapter_key,
            step=step,
            created_at=int(time.time()),
            reasoning_effort=self._trained_effort,
        )


def _rollouts(outcome: StepOutcome) -> Iterator[tuple[ScoredRollout, int | None]]:
    for rollout in outcome.trained.scored_rollouts():
        yield rollout, outcome.step
    for rollout in outcome.validation.scored_rollouts():
        yield rollout, None


_DECIMALS: Final = 4


def token_record(rollout: ScoredRollout) -> TokenRecord | None:
    trajectory = rollout.trajectory
    stored = sum(len(turn.texts) for turn in trajectory.turns)
    if not stored:
        return None
    trained = rollout.trainer_logprobs
    if trained is not None and len(trained) != trajectory.completion_tokens:
        raise ValueError("the trainer's log-probs must be parallel to the sampled tokens")
    unread = iter([None] * trajectory.completion_tokens if trained is None else trained)
    turns = [_turn(turn, unread) for turn in trajectory.turns]
    return TokenRecord(turns, trajectory.completion_tokens - stored)


def _turn(turn: Turn, trained: Iterator[float | None]) -> RecordedTurn:
    """Returns the stored tokens of a turn, and takes the trainer's log-probs of all."""
    pairs = list(zip(turn.logprobs, islice(trained, len(turn.token_ids)), strict=True))
    pairs = pairs[: len(turn.texts)]
    return RecordedTurn(
        texts=list(turn.texts),
        log_probs=[_finite_writer(sampler) for sampler, _ in pairs],
        ratios=[_ratio(trainer, sampler) for sampler, trainer in pairs],
    )


def _ratio(trainer: float | None, sampler: float) -> float | None:
    if trainer is None or not math.isfinite(trainer - sampler):
        return None
    distance = min(max(trainer - sampler, -MAX_LOG_RATIO), MAX_LOG_RATIO)
    return round(math.exp(distance), _DECIMALS)


def _finite_writer(logprob: float) -> float | None:
    # A rounded 0 has no sign.
    return round(logprob, _DECIMALS) + 0.0 if math.isfinite(logprob) else None


def rollout_row(
    rollout: ScoredRollout, *, project_id: str, trained_step: int | None = None
) -> RolloutRow:
    """`trained_step`: the step whose batch it was in, for a training rollout."""
    key, trajectory = rollout.key, rollout.trajectory
    failure, grade = rollout.failure, rollout.grade
    return RolloutRow(
        id=new_id("rollout_"),
        project_id=project_id,
        job_id=key.job_id,
        split=key.split,
        step=key.step,
        prompt_index=key.prompt_index,
        sample_index=key.sample_index,
        attempt=key.attempt,
        trace_id=key.trace_id,
        reward=rollout.reward,
        failure_class=None if failure is None else failure.failure_class,
        failure_message=None if failure is None else f"{failure.source}: {failure.message}",
        stop_reason=trajectory.stop_reason,
        policy_version=trajectory.policy_versions[1],
        completion_tokens=trajectory.completion_tokens,
        reasoning_tokens=trajectory.reasoning_tokens,
        prompt_tokens=trajectory.prompt_tokens,
        tool_calls=len(trajectory.tool_calls),
        components={} if grade is None else grade.components,
        trace=_trace(rollout) | _learned(rollout, trained_step),
        started_at=trajectory.started_at,
        finished_at=trajectory.finished_at,
    )


def _trace(rollout: ScoredRollout) -> dict[str, Any]:
    trajectory, scored = rollout.trajectory, rollout.grade or rollout.failure
    reward = trajectory.environment_reward
    return ({} if reward is None else {"environment": reward.to_sample()}) | {
        "messages": trajectory.messages,
        "turns": [_turn_trace(turn) for turn in trajectory.turns],
        "policy_versions": list(trajectory.policy_versions),
        "grader_latency_s": None if rollout.grade is None else rollout.grade.latency_s,
        "graders": {} if scored is None else scored.measures,
        "grader_errors": {} if rollout.grade is None else rollout.grade.details,
        "grader_reasons": {} if rollout.grade is None else rollout.grade.reasons,
    }


def _learned(rollout: ScoredRollout, trained_step: int | None) -> dict[str, Any]:
    if trained_step is None:
        return {}
    return {
        "trained_step": trained_step,
        "advantage": rollout.advantage,
        "shaped_reward": rollout.shaped_reward,
    }


def _turn_trace(turn: Turn) -> dict[str, Any]:
    return {
        "tokens": len(turn.token_ids),
        "reasoning_tokens": turn.reasoning_tokens,
        "row": turn.row,
        "policy_version": turn.policy_version,
        "finish_reason": turn.finish_reason,
        "parse_error": turn.parse_error,
        "tool_calls": [_call(call) for call in turn.tool_calls],
        **({} if turn.environment is None else {"environment": _step(turn.environment)}),
    }


def _step(step: EnvironmentStep) -> dict[str, Any]:
    return {**asdict(step), "latency_s": round(step.latency_s, 4)}


def _call(call: ToolCallRecord) -> dict[str, Any]:
    return {
        "id": call.id,
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "output": call.output,
        "error": call.error,
        "latency_s": round(call.latency_s, 4),
        "attempts": call.attempts,
        "output_tokens": call.output_tokens,
        "repeated": call.repeated,
    }
