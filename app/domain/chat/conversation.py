"""Checks the order of a chat's messages, and writes them in the form that every engine reads.

Promises that each tool call is answered once, before the next message of another role.
"""

from typing import Any, Final

from app.domain.chat.faults import invalid_value
from app.domain.chat.messages import BROKEN_CALL, REASONING, check_message, required_text
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest

MAX_MESSAGES: Final = 2048
_SHOWN: Final = 64
_COPIED: Final = ("role", "name", "tool_call_id")


def check_conversation(messages: list[Any]) -> None:
    """Raises `InvalidRequest` for the first message that a chat cannot have."""
    if not messages:
        raise InvalidRequest(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead.",
            param="messages",
            code="empty_array",
        )
    if len(messages) > MAX_MESSAGES:
        raise InvalidRequest(
            f"Invalid 'messages': array too long. Expected an array with maximum length "
            f"{MAX_MESSAGES}, but got an array with length {len(messages)} instead.",
            param="messages",
            code="array_above_max_length",
        )
    calls = _Calls({}, param="")
    for position, message in enumerate(messages):
        param = f"messages[{position}]"
        check_message(message, param)
        if message["role"] == "tool":
            calls.answer(message, param)
        else:
            calls.refuse_unanswered()
            calls = _Calls(message, param=param)
    calls.refuse_unanswered()


class _Calls:
    """The tool calls of one message, and the messages that answered them."""

    def __init__(self, message: Json, *, param: str) -> None:
        self._param = param
        self._calls = [call["id"] for call in message.get("tool_calls") or ()]
        broken = message.get(BROKEN_CALL)
        self._ids = {*self._calls, *((broken["tool_call_id"],) if broken is not None else ())}
        self._answered: dict[str, str] = {}

    def answer(self, message: Json, param: str) -> None:
        required_text(message, "tool_call_id", param)
        answered = message["tool_call_id"]
        if not self._ids:
            raise InvalidRequest(
                "Invalid parameter: messages with role 'tool' must be a response to a preceding "
                "message with 'tool_calls'.",
                param=f"{param}.role",
                code="invalid_value",
            )
        if answered not in self._ids:
            raise InvalidRequest(
                f"Invalid parameter: 'tool_call_id' of '{answered[:_SHOWN]}' not found in "
                "'tool_calls' of previous message.",
                param=f"{param}.tool_call_id",
                code="invalid_value",
            )
        first = self._answered.setdefault(answered, param)
        if first != param:
            reason = f"'{first}' answers the call '{answered[:_SHOWN]}' already"
            raise invalid_value(f"{param}.tool_call_id", reason)

    def refuse_unanswered(self) -> None:
        missing = [call for call in self._calls if call not in self._answered]
        if missing:
            listed = ", ".join(call[:_SHOWN] for call in missing[:_SHOWN])
            raise InvalidRequest(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {listed}.",
                param=f"{self._param}.tool_calls",
                code="invalid_value",
            )


def engine_messages(messages: list[Json]) -> list[Json]:
    """Returns a checked conversation as engines read it: without hints and nulls, with refusals as
    text, parts as one text and reasoning under both of its names.
    """
    return [_engine_message(message) for message in messages]


def _engine_message(message: Json) -> Json:
    written = {name: message[name] for name in _COPIED if message.get(name) is not None}
    content = message.get("content")
    if isinstance(content, list):
        # vLLM would write a line break between two parts, and training writes nothing.
        content = "".join(part[part["type"]] for part in content)
    written["content"] = content or message.get("refusal") or content
    reasoning = next((message[name] for name in REASONING if message.get(name) is not None), None)
    if reasoning is not None:
        written |= dict.fromkeys(REASONING, reasoning)
    if message.get("tool_calls"):
        written["tool_calls"] = [_engine_call(call) for call in message["tool_calls"]]
    return written


def _engine_call(call: Json) -> Json:
    function = {name: call["function"][name] for name in ("name", "arguments")}
    return {"id": call["id"], "type": "function", "function": function}
