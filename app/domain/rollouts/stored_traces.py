"""Restores the trajectory that graders received from a stored trace. Pure.

A trace has no token ids and no log-probs, so the trajectory has only their number; times of calls
are rounded to a tenth of a millisecond.
"""

from app.domain.documents.json_object import Json
from app.domain.ids import SampleKey
from app.domain.rollouts.environment_steps import EnvironmentStep
from app.domain.rollouts.rollouts import RolloutRow
from app.domain.rollouts.trajectory import StopReason, ToolCallRecord, Trajectory, Turn


def key_of(row: RolloutRow) -> SampleKey:
    return SampleKey(
        row.job_id, row.split, row.step, row.prompt_index, row.sample_index, row.attempt
    )


def trajectory_of(row: RolloutRow) -> Trajectory:
    messages: list[Json] = row.trace["messages"]
    turns: list[Json] = row.trace["turns"]
    assistant_messages = [message for message in messages if message["role"] == "assistant"]
    written = assistant_messages[len(assistant_messages) - len(turns) :]
    return Trajectory(
        key=key_of(row),
        tokens=[],
        mask=[],
        logprobs=[],
        turns=[_turn(*pair) for pair in zip(turns, written, strict=False)],
        messages=messages,
        in_environment="environment" in row.trace,
        prompt_tokens=row.prompt_tokens,
        stop_reason=None if row.stop_reason is None else StopReason(row.stop_reason),
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _turn(turn: Json, message: Json) -> Turn:
    count = int(turn["tokens"])
    return Turn(
        token_ids=(0,) * count,
        logprobs=(0.0,) * count,
        policy_version=turn.get("policy_version", 0),
        content=message.get("content") or "",
        reasoning_tokens=turn.get("reasoning_tokens", 0),
        finish_reason=turn["finish_reason"],
        tool_calls=tuple(_call(call) for call in turn["tool_calls"]),
        parse_error=turn["parse_error"],
        environment=_step(turn.get("environment")),
    )


def _step(step: Json | None) -> EnvironmentStep | None:
    return None if step is None else EnvironmentStep(**step)


def _call(call: Json) -> ToolCallRecord:
    return ToolCallRecord(
        id=call.get("id", ""),
        call_id=call.get("call_id", ""),
        name=call["name"],
        arguments=call["arguments"],
        output=call["output"],
        error=call["error"],
        latency_s=call["latency_s"],
        attempts=call.get("attempts", 1),
        output_tokens=call.get("output_tokens", 0),
        repeated=call["repeated"],
    )
