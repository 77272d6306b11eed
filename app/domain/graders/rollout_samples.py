"""Builds the `sample` object of a rollout for graders. Pure."""

from typing import Any

from app.domain.graders.samples import (
    SampleCall,
    SampleTurn,
    object_or_list,
    rollout_keys,
    unrun_calls,
)
from app.domain.rollouts.trajectory import ToolCallRecord, Trajectory, Turn


def sample_object(trajectory: Trajectory) -> dict[str, Any]:
    """Returns the final turn in the hosted form (empty without a turn), and the whole rollout: all
    calls, all turns and the stop reason.

    `output_json` is the answer as JSON if it is an object or a list.
    """
    sampled = _sampled_messages(trajectory)
    message = sampled[-1] if sampled else {}
    text, calls = message.get("content") or "", message.get("tool_calls") or []
    reason = trajectory.turns[-1].finish_reason if trajectory.turns else "length"
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, "tool_calls": calls},
        "finish_reason": "tool_calls" if calls else reason,
    }
    turns = list[SampleTurn]()
    all_calls = list[SampleCall]()
    for turn, written in zip(trajectory.turns, sampled, strict=True):
        all_calls += _calls(turn, written, all_calls, index=len(turns))
        turns.append(_turn(turn, sum(call.turn == len(turns) for call in all_calls)))
    return {
        "choices": [choice],
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": calls,
        "output_reasoning_summary": message.get("reasoning_content"),
        **rollout_keys(
            all_calls,
            turns,
            trajectory.stop_reason,
            environment=trajectory.environment_reward,
        ),
    }


def _sampled_messages(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Returns one message for each sampled turn; earlier assistant messages belong to the row."""
    count = len(trajectory.turns)
    assistant_messages = [
        message for message in trajectory.messages if message["role"] == "assistant"
    ]
    return assistant_messages[-count:] if count else []


def _calls(
    turn: Turn, message: dict[str, Any], earlier: list[SampleCall], *, index: int
) -> list[SampleCall]:
    """Returns the calls of a turn that were run, then those that were not run: calls beyond a
    limit, or of a row whose tools the job does not run.
    """
    run = {record.call_id for record in turn.tool_calls}
    seen = [(call.name, call.arguments) for call in earlier]
    written = unrun_calls(message.get("tool_calls"), turn=index, earlier=seen)
    return [
        *(_run(record, index) for record in turn.tool_calls),
        *(call for call in written if call.id not in run),
    ]


def _run(record: ToolCallRecord, index: int) -> SampleCall:
    return SampleCall(
        id=record.call_id,
        name=record.name,
        arguments=record.arguments,
        arguments_json=object_or_list(record.arguments),
        output=record.output,
        error=record.error,
        latency_s=record.latency_s,
        repeated=record.repeated,
        turn=index,
    )


def _turn(turn: Turn, calls: int) -> SampleTurn:
    return SampleTurn(
        content=turn.content,
        finish_reason=turn.finish_reason,
        parse_error=turn.parse_error,
        tool_calls=calls,
        completion_tokens=len(turn.token_ids),
    )
