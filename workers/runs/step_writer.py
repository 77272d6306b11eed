"""The step writer: writes the rows of a step (rollouts, curves, checkpoint, model, resume point).

Every method works inside the caller's fenced transaction and may be repeated when that transaction
was rolled back.
"""

import asyncio
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, Final

from app.database import RunUnitOfWork
from app.jobs.jobs import Checkpoint, Usage
from app.jobs.modes import MAX_LOG_RATIO
from app.jobs.results import kept_steps
from app.jobs.stop_options import KeepCheckpoints
from app.kit.ids import REPORT, new_id
from app.models.models import TunedModel, checkpoint_model_name
from app.rollouts.metrics import LOSS, REWARD_MEAN, ROLLOUTS_VALID, TIME_EVAL
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import (
    EnvironmentStep,
    RecordedTurn,
    ScoredRollout,
    TokenRecord,
    ToolCallRecord,
    Turn,
)
from workers.runs.context import RunContext
from workers.runs.step_outcome import PublishedAdapter, StepOutcome

_VALIDATION_CURVES: Final = [ROLLOUTS_VALID, REWARD_MEAN, LOSS]
"""A point of the validation split on one of these belongs to a validation on all rows."""


class StepWriter:
    def __init__(self, context: RunContext, tuned_name: str, *, trained_effort: str | None) -> None:
        """`trained_effort`: the reasoning effort that calls of the job's models use."""
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
        """Moves the resume point to the step, adds its usage and forgets its journal."""
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
    """Returns the record; `None` for a rollout that sampled nothing."""
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
        log_probs=[_finite(sampler) for sampler, _ in pairs],
        ratios=[_ratio(trainer, sampler) for sampler, trainer in pairs],
    )


def _ratio(trainer: float | None, sampler: float) -> float | None:
    if trainer is None or not math.isfinite(trainer - sampler):
        return None
    distance = min(max(trainer - sampler, -MAX_LOG_RATIO), MAX_LOG_RATIO)
    return round(math.exp(distance), _DECIMALS)


def _finite(logprob: float) -> float | None:
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
