"""Checks the messages of a chat: roles, contents, tool calls and their answers."""

import json
from typing import Any, Final

from app.domain.chat.faults import (
    invalid_type,
    invalid_value,
    missing,
    not_one_of,
    unsupported_parameter,
    unsupported_value,
)
from app.domain.errors import InvalidRequest
from app.domain.strict_json import strict_loads

BROKEN_CALL: Final = "tool_call_error"
"""Field of an assistant message whose tool call could not be parsed (`docs/tool-loop.md`)."""
MAX_MESSAGES: Final = 2048
_ROLES: Final = ("system", "assistant", "user", "tool", "developer")
_PARTS: Final = {"assistant": ("text", "refusal")}
_IN_PLACE_OF_CONTENT: Final = ("tool_calls", "refusal", "reasoning", "reasoning_content")
"""Fields that let an assistant message do without content. Engines answer with the last two when a
turn ends within its reasoning.
"""

Json = dict[str, Any]


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
    asked: set[str] = set()
    for position, message in enumerate(messages):
        place = f"messages[{position}]"
        _check_message(message, place)
        if message["role"] == "tool":
            _check_answer(message, place, asked)
        else:
            asked = _call_ids(message)


def _check_message(message: Any, place: str) -> None:
    if not isinstance(message, dict):
        raise invalid_type(place, "an object", message)
    role = message.get("role")
    if role is None:
        raise missing(f"{place}.role")
    if role == "function":
        raise unsupported_value(f"{place}.role", role, ("tool",))
    if role not in _ROLES:
        raise not_one_of(f"{place}.role", role, _ROLES)
    name = message.get("name")
    if name is not None and not isinstance(name, str):
        raise invalid_type(f"{place}.name", "a string", name)
    if message.get("function_call") is not None:
        raise unsupported_parameter(f"{place}.function_call", "Use 'tool_calls' instead.")
    if message.get("audio") is not None:
        raise unsupported_parameter(f"{place}.audio", "Messages are text.")
    if message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{place}.tool_calls", role)
    _check_content(message, place)


def _check_content(message: Json, place: str) -> None:
    content, role = message.get("content"), message["role"]
    if content is None and role == "assistant" and any(map(message.get, _IN_PLACE_OF_CONTENT)):
        return
    if "content" not in message:
        raise missing(f"{place}.content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid_type(f"{place}.content", "a string or an array of text parts", content)
    for position, part in enumerate(content):
        _check_part(part, f"{place}.content", position, _PARTS.get(role, ("text",)))


def _check_part(part: Any, place: str, position: int, kinds: tuple[str, ...]) -> None:
    if not isinstance(part, dict):
        raise invalid_type(f"{place}[{position}]", "an object", part)
    kind = part.get("type")
    if kind not in kinds:  # an engine would fetch an image by its address
        raise unsupported_value(place, kind, kinds)
    if not isinstance(part.get(kind), str):
        raise invalid_type(f"{place}[{position}].{kind}", "a string", part.get(kind))


def _check_calls(calls: Any, place: str, role: str) -> None:
    if role != "assistant":
        raise invalid_value(place, "only messages with role 'assistant' have tool calls")
    if not isinstance(calls, list):
        raise invalid_type(place, "an array", calls)
    for position, call in enumerate(calls):
        _check_call(call, f"{place}[{position}]")


def _check_call(call: Any, place: str) -> None:
    if not isinstance(call, dict):
        raise invalid_type(place, "an object", call)
    if call.get("type", "function") != "function":
        raise unsupported_value(f"{place}.type", call["type"], ("function",))
    _check_text(call, "id", place)
    function = call.get("function")
    if function is None:
        raise missing(f"{place}.function")
    if not isinstance(function, dict):
        raise invalid_type(f"{place}.function", "an object", function)
    for name in ("name", "arguments"):
        _check_text(function, name, f"{place}.function")
    _check_arguments(function["arguments"], f"{place}.function.arguments")


def _check_text(holder: Json, name: str, place: str) -> None:
    if holder.get(name) is None:
        raise missing(f"{place}.{name}")
    if not isinstance(holder[name], str):
        raise invalid_type(f"{place}.{name}", "a string", holder[name])


def _check_arguments(text: str, place: str) -> None:
    """Checks arguments, which a chat template renders as an object, never as text."""
    try:
        arguments = strict_loads(text)
    except RecursionError:
        raise invalid_value(place, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = f"it is not valid JSON ({error.msg} at character {error.pos})"
        raise invalid_value(place, reason) from None
    except ValueError as error:
        raise invalid_value(place, "it holds a number that is out of range") from error
    if not isinstance(arguments, dict):
        raise invalid_value(place, "it is not a JSON object as text, such as '{}'")


def _check_answer(message: Json, place: str, asked: set[str]) -> None:
    _check_text(message, "tool_call_id", place)
    if not asked:
        raise InvalidRequest(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding "
            "message with 'tool_calls'.",
            param=f"{place}.role",
            code="invalid_value",
        )
    if message["tool_call_id"] not in asked:
        raise InvalidRequest(
            f"Invalid parameter: 'tool_call_id' of '{message['tool_call_id'][:64]}' not found in "
            "'tool_calls' of previous message.",
            param=f"{place}.tool_call_id",
            code="invalid_value",
        )


def _call_ids(message: Json) -> set[str]:
    """Returns the ids of the calls that the following tool messages may answer."""
    ids = {call["id"] for call in message.get("tool_calls") or ()}
    sign = message.get(BROKEN_CALL)
    if isinstance(sign, dict) and isinstance(sign.get("tool_call_id"), str):
        ids.add(sign["tool_call_id"])
    return ids
