"""The parts of `sample` that describe a whole rollout, besides the hosted last turn."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from app.kit.strict_json import strict_loads
from app.rollouts.trajectory import EpisodeReward, StopReason, ToolCallRecord, Trajectory, Turn

NOT_RUN: Final = "not_run"
"""Error of a call that the model wrote and that was not run."""


@dataclass(frozen=True, slots=True)
class SampleCall:
    """One tool call of the rollout."""

    id: str
    name: str
    arguments: str
    """JSON as the model wrote it."""
    arguments_json: Any
    """The parsed arguments if they are a JSON object or list, else `None`."""
    output: str | None
    """The text that the model read; `None` for a call that was not run."""
    error: str | None
    """`None`, or the model's mistake: `bad_arguments`, `http_404`, `not_run`, …"""
    latency_s: float | None
    repeated: bool
    """Same name and arguments as an earlier call."""
    turn: int
    """Position of the turn, from 0."""


@dataclass(frozen=True, slots=True)
class SampleTurn:
    """One turn of the policy."""

    content: str
    finish_reason: str | None
    parse_error: str | None
    tool_calls: int
    """Number of calls in the turn."""
    completion_tokens: int | None
    """`None` if they were not counted."""


CALL_KEYS: Final = tuple(field.name for field in fields(SampleCall))
TURN_KEYS: Final = tuple(field.name for field in fields(SampleTurn))

CHAT_CALL_KEYS: Final = ("id", "type", "function", "index")
CHAT_FUNCTION_KEYS: Final = ("name", "arguments")
"""Keys of a call in chat form, and of its `function`."""
CHOICE_KEYS: Final = ("index", "message", "finish_reason")
MESSAGE_KEYS: Final = ("role", "content", "tool_calls")
"""Keys of the one choice of a rollout's sample, and of its `message`."""


def flat_call(call: Any) -> Any:
    """Returns a call in the form of `sample.tool_calls`. One in chat form has its name and
    arguments under `function`; every other value stays as it is.
    """
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
    """Returns the keys of `sample` that describe the whole rollout; `environment` is present only
    in a job with an HTTP environment.
    """
    return ({} if environment is None else {"environment": environment.to_sample()}) | {
        "tool_calls": [asdict(call) for call in calls],
        "turns": [asdict(turn) for turn in turns],
        "stop_reason": None if stop_reason is None else stop_reason.value,
    }


def one_turn_keys(
    message: dict[str, Any], finish_reason: Any, *, tokens: int | None = None
) -> dict[str, Any]:
    """Returns the same keys for an answer that is one chat message, whose calls were not run."""
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
    """Reads the `tool_calls` of a chat message; entries of another form are left out.

    `earlier` are names and arguments of the calls of earlier turns.
    """
    calls = list[SampleCall]()
    seen = set(earlier)
    for entry in _objects(sent):
        function = entry.get("function")
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
    """Returns the value of a text that is a JSON object or list, `None` for any other text."""
    try:
        value = strict_loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _objects(sent: Any) -> Iterable[dict[str, Any]]:
    return (entry for entry in sent if isinstance(entry, dict)) if isinstance(sent, list) else ()


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
