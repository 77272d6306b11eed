"""The parts of `sample` that describe a whole rollout, besides the hosted last turn."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from app.kit.strict_json import strict_loads
from app.rollouts.trajectory import EpisodeReward, StopReason, Trajectory, Turn

NOT_RUN: Final = "not_run"


@dataclass(frozen=True, slots=True)
class SampleCall:
    id: str
    name: str
    arguments: str
    arguments_json: Any
    """The parsed arguments if they are a JSON object or list, else `None`."""
    output: str | None
    error: str | None
    """`None`, or the model's mistake: `bad_arguments`, `http_404`, `not_run`, …"""
    latency_s: float | None
    repeated: bool
    turn: int


@dataclass(frozen=True, slots=True)
class SampleTurn:
    content: str
    finish_reason: str | None
    parse_error: str | None
    tool_calls: int
    completion_tokens: int | None


CALL_KEYS: Final = tuple(field.name for field in fields(SampleCall))
TURN_KEYS: Final = tuple(field.name for field in fields(SampleTurn))

CHAT_CALL_KEYS: Final = ("id", "type", "function", "index")
CHAT_FUNCTION_KEYS: Final = ("name", "arguments")
CHOICE_KEYS: Final = ("index", "message", "finish_reason")
MESSAGE_KEYS: Final = ("role", "content", "tool_calls")


def flat_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    own = {key: value for key, value in call.items() if key not in ("type", "function", "index")}
    return {**own, **function}


def rollout_keys(
    calls: Sequence[SampleCall],
    turns: Sequence[SampleTurn],
    stop_reason: StopReason | None,
    *,
    environment: EpisodeReward | None = None,
) -> dict[str, Any]:
    return ({} if environment is None else {"environment": environment.to_sample()}) | {
        "tool_calls": [asdict(call) for call in calls],
        "turns": [asdict(turn) for turn in turns],
        "stop_reason": None if stop_reason is None else stop_reason.value,
    }


def one_turn_keys(
    message: dict[str, Any], finish_reason: Any, *, tokens: int | None = None
) -> dict[str, Any]:
    calls = unrun_calls(message.get("tool_calls"), turn=0)
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    reason = StopReason.TOKEN_LIMIT if finish_reason == "length" else StopReason.FINAL_ANSWER
    shown = finish_reason if isinstance(finish_reason, str) else None
    turn = SampleTurn(text, shown, None, len(calls), tokens)
    return rollout_keys(calls, [turn], reason)


def unrun_calls(
    sent: Any, *, turn: int, earlier: Iterable[tuple[str, str]] = ()
) -> list[SampleCall]:
    calls = list[SampleCall]()
    seen = set(earlier)
    for entry in sent if isinstance(sent, list) else ():
        function = entry.get("function") if isinstance(entry, dict) else None
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, str):
            continue
        calls.append(
            SampleCall(
                id=str(entry.get("id") or ""),
                name=name,
                arguments=arguments,
                arguments_json=object_or_list(arguments),
                output=None,
                error=NOT_RUN,
                latency_s=None,
                repeated=(name, arguments) in seen,
                turn=turn,
            )
        )
        seen.add((name, arguments))
    return calls


def object_or_list(text: str) -> Any:
    try:
        value = strict_loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def sample_object(trajectory: Trajectory) -> dict[str, Any]:
    """Returns the final turn in the hosted form (empty without a turn), and the whole rollout."""
    count = len(trajectory.turns)  # earlier assistant messages belong to the row
    spoken = [message for message in trajectory.messages if message["role"] == "assistant"]
    sampled = spoken[-count:] if count else []
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
        turns.append(
            SampleTurn(
                content=turn.content,
                finish_reason=turn.finish_reason,
                parse_error=turn.parse_error,
                tool_calls=sum(call.turn == len(turns) for call in all_calls),
                completion_tokens=len(turn.token_ids),
            )
        )
    return {
        "choices": [choice],
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": calls,
        "output_reasoning_summary": message.get("reasoning_content"),
        **rollout_keys(
            all_calls, turns, trajectory.stop_reason, environment=trajectory.environment_reward
        ),
    }


def _calls(
    turn: Turn, message: dict[str, Any], earlier: list[SampleCall], *, index: int
) -> list[SampleCall]:
    run = {record.call_id for record in turn.tool_calls}
    seen = [(call.name, call.arguments) for call in earlier]
    written = unrun_calls(message.get("tool_calls"), turn=index, earlier=seen)
    made = [
        SampleCall(
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
        for record in turn.tool_calls
    ]
    return [*made, *(call for call in written if call.id not in run)]
