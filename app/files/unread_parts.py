"""Parts of a row without a fault that no job reads as what they seem to be."""

from collections.abc import Iterator
from typing import Any, Final, assert_never

from app.files.conversations import unknown_keys
from app.files.function_tools import unknown_tool_keys
from app.files.rows import Fault
from app.jobs.supervised import MethodType
from app.kit.fields import Json, Path, pointer

UNREAD_PART: Final = "unread_part"
_OPTIONS: Final = (
    *("tool_choice", "response_format", "functions", "function_call", "reasoning_effort"),
    *("temperature", "top_p", "top_k", "min_p", "seed", "stop", "max_tokens", "logit_bias"),
    *("max_completion_tokens", "max_output_tokens", "frequency_penalty", "presence_penalty"),
    *("repetition_penalty", "verbosity"),
)
"""Options of a chat that a rollout takes from the job alone."""
_ONE_CALL: Final = (
    "a rollout makes the first call of a turn alone; the model still reads the others, which it "
    "was free to write"
)


def unread_parts(method: MethodType, row: Json) -> Iterator[Fault]:
    for path in _unknown(method, row):
        if method != "supervised" or path[-1] != "weight":
            why = f"chats with '{path[-1]}' are refused, and only a chat template could show it"
            yield pointer(path), why
    if method != "reinforcement":
        return
    if row.get("parallel_tool_calls") is False:
        yield "/parallel_tool_calls", _ONE_CALL
    for name in _OPTIONS:
        if row.get(name) not in (None, "auto"):
            why = (
                f"no rollout obeys '{name}' of a row, which graders and tools read as "
                f"'item.{name}'; options of all rollouts are in method.reinforcement"
            )
            yield f"/{name}", why


def _unknown(method: MethodType, row: Json) -> Iterator[Path]:
    match method:
        case "reinforcement" | "supervised":
            yield from unknown_keys(row["messages"], ("messages",))
            yield from unknown_tool_keys(row.get("tools") or (), ("tools",))
        case "dpo":
            given: dict[str, Any] = row["input"]
            yield from unknown_keys(given["messages"], ("input", "messages"))
            yield from unknown_tool_keys(given.get("tools") or (), ("input", "tools"))
            for name in ("preferred_output", "non_preferred_output"):
                yield from unknown_keys(row[name], (name,))
        case _:
            assert_never(method)
