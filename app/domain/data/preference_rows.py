"""Rows of a preference (DPO) job's files: a conversation and two answers, one of them better.

Source: the hosted API's `FineTunePreferenceRequestInput`. Pure. Must not know files.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.domain.data.chat_rows import Fault, messages_faults, parallel_calls_faults, tools_faults

_OUTPUTS: Final = ("preferred_output", "non_preferred_output")

_OF_OTHER_METHODS: Final = (
    "must be an object with messages; the row has 'messages', the form of other methods: send "
    "'method.type' as 'supervised' or 'reinforcement', or rows with 'input', 'preferred_output' "
    "and 'non_preferred_output'"
)


def row_faults(item: dict[str, Any]) -> Iterator[Fault]:
    """Returns everything that is wrong with a row."""
    given = item.get("input")
    if item.get("messages") is not None and not any(name in item for name in ("input", *_OUTPUTS)):
        yield "/input", _OF_OTHER_METHODS
        return
    if isinstance(given, dict):
        yield from messages_faults(given.get("messages"), "/input/messages")
        yield from tools_faults(given.get("tools"), "/input/tools", callable_names=None)
        yield from parallel_calls_faults(
            given.get("parallel_tool_calls"), "/input/parallel_tool_calls"
        )
    else:
        yield "/input", "must be an object with messages"
    answers = []
    for name in _OUTPUTS:
        faults = list(_output_faults(item.get(name), f"/{name}"))
        yield from faults
        if not faults:
            answers.append(item[name])
    if len(answers) == len(_OUTPUTS) and answers[0] == answers[1]:
        yield f"/{_OUTPUTS[1]}", "is the same as preferred_output: there is nothing to prefer"


def _output_faults(output: Any, pointer: str) -> Iterator[Fault]:
    faults = list(messages_faults(output, pointer))
    yield from faults
    if faults:
        return
    if len(output) > 1:
        yield pointer, "must hold exactly one message"
    if output[0]["role"] != "assistant":
        yield f"{pointer}/0/role", "must be 'assistant'"
