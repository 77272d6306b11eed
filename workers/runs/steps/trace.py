"""Converts a finished rollout to its row: the numbers, and the trace for readers. Pure."""

from dataclasses import asdict
from typing import Any

from app.domain.ids import new_id
from app.domain.rollouts.environment_steps import EnvironmentStep
from app.domain.rollouts.rollouts import RolloutRow
from app.domain.rollouts.trajectory import ScoredRollout, ToolCallRecord, Turn


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
        "turns": [_turn(turn) for turn in trajectory.turns],
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


def _turn(turn: Turn) -> dict[str, Any]:
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
