"""Checks one message of a chat: role, keys, content, tool calls.

Promises that a valid message has no unread key, except hints (`openapi/DEVIATIONS.md`). A null
counts as absent.
"""

import json
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

from app.domain.chat.faults import (
    invalid_type,
    invalid_value,
    not_one_of,
    unknown_parameter,
    unsupported_parameter,
    unsupported_value,
)
from app.domain.documents.json_object import Json
from app.domain.errors import missing_parameter
from app.domain.texts.strict_json import TooManyValues, strict_loads

BROKEN_CALL: Final = "tool_call_error"
"""Field of an assistant message whose tool call could not be parsed (`docs/tool-loop.md`)."""
REASONING: Final = ("reasoning", "reasoning_content")
"""Names of an assistant message's reasoning; engines and chat templates differ in them."""
_ROLES: Final = ("system", "assistant", "user", "tool", "developer")
_PARTS: Final = {"assistant": ("text", "refusal")}
_EVERY_ROLE: Final = ("role", "content", "name")
_KEYS: Final = MappingProxyType(
    {
        "assistant": (
            *_EVERY_ROLE, "refusal", "tool_calls", "annotations", "parsed", BROKEN_CALL, *REASONING,
        ),
        "tool": (*_EVERY_ROLE, "tool_call_id"),
    }
)  # fmt: skip
"""Known keys of a message by role. `annotations` and `parsed`, and `index` and `parsed_arguments`
of calls, come from replies of the hosted API and its client helpers, which clients send back
unchanged.
"""
_CALL_KEYS: Final = ("id", "type", "function", "index")
_FUNCTION_KEYS: Final = ("name", "arguments", "parsed_arguments")
_REPLACES_CONTENT: Final = ("tool_calls", "refusal", *REASONING)
"""Fields that an assistant message may have instead of content. Engines return the last two when a
turn ends within its reasoning.
"""


def check_message(message: Any, param: str) -> None:
    """Raises `InvalidRequest` for the first fault; `param` is the message's parameter."""
    if not isinstance(message, dict):
        raise invalid_type(param, "an object", message)
    role = _checked_role(message.get("role"), f"{param}.role")
    if message.get("function_call") is not None:
        raise unsupported_parameter(f"{param}.function_call", "Use 'tool_calls' instead.")
    if message.get("audio") is not None:
        raise unsupported_parameter(f"{param}.audio", "Messages are text.")
    if role != "assistant" and message.get("tool_calls") is not None:
        reason = "only messages with role 'assistant' have tool calls"
        raise invalid_value(f"{param}.tool_calls", reason)
    refuse_unknown(message, _KEYS.get(role, _EVERY_ROLE), param)
    for name in ("name", "refusal", *REASONING):
        optional_text(message, name, param)
    if message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{param}.tool_calls")
    _check_content(message, param)
    if role == "assistant":
        _check_assistant(message, param)


def _checked_role(role: Any, param: str) -> str:
    if role is None:
        raise missing_parameter(param)
    if role == "function":
        raise unsupported_value(param, role, ("tool",))
    if role not in _ROLES:
        raise not_one_of(param, role, _ROLES)
    return str(role)


def refuse_unknown(holder: Json, known: Iterable[str], param: str) -> None:
    """Raises `InvalidRequest` for the first unknown key with a value."""
    for key, value in holder.items():
        if key not in known and value is not None:
            raise unknown_parameter(f"{param}.{key[:64]}")


def optional_text(holder: Json, name: str, param: str) -> None:
    if holder.get(name) is not None and not isinstance(holder[name], str):
        raise invalid_type(f"{param}.{name}", "a string", holder[name])


def required_text(holder: Json, name: str, param: str) -> None:
    if holder.get(name) is None:
        raise missing_parameter(f"{param}.{name}")
    optional_text(holder, name, param)


def _check_content(message: Json, param: str) -> None:
    content, role = message.get("content"), message["role"]
    if content is None and role == "assistant" and any(map(message.get, _REPLACES_CONTENT)):
        return
    if "content" not in message:
        raise missing_parameter(f"{param}.content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid_type(f"{param}.content", "a string or an array of text parts", content)
    for position, part in enumerate(content):
        _check_part(part, f"{param}.content", position, _PARTS.get(role, ("text",)))


def _check_part(part: Any, param: str, position: int, kinds: tuple[str, ...]) -> None:
    if not isinstance(part, dict):
        raise invalid_type(f"{param}[{position}]", "an object", part)
    kind = part.get("type")
    if kind not in kinds:  # an engine would fetch an image by its address
        raise unsupported_value(param, kind, kinds)
    refuse_unknown(part, ("type", kind), f"{param}[{position}]")
    if not isinstance(part.get(kind), str):
        raise invalid_type(f"{param}[{position}].{kind}", "a string", part.get(kind))


def _check_assistant(message: Json, param: str) -> None:
    if message.get("refusal") and message.get("content"):
        reason = "a message has content or a refusal, not both; send one of them"
        raise invalid_value(f"{param}.refusal", reason)
    first, second = (message.get(name) for name in REASONING)
    if first is not None and second is not None and first != second:
        reason = f"it differs from '{REASONING[0]}', its other name; send one of them"
        raise invalid_value(f"{param}.{REASONING[1]}", reason)
    broken = message.get(BROKEN_CALL)
    if broken is not None:
        if not isinstance(broken, dict):
            raise invalid_type(f"{param}.{BROKEN_CALL}", "an object", broken)
        for name in ("type", "message", "tool_call_id"):
            required_text(broken, name, f"{param}.{BROKEN_CALL}")


def _check_calls(calls: Any, param: str) -> None:
    if not isinstance(calls, list):
        raise invalid_type(param, "an array", calls)
    seen = set[str]()
    for position, call in enumerate(calls):
        _check_call(call, f"{param}[{position}]")
        if call["id"] in seen:
            reason = f"the id '{call['id'][:64]}' is that of an earlier call of the message"
            raise invalid_value(f"{param}[{position}].id", reason)
        seen.add(call["id"])


def _check_call(call: Any, param: str) -> None:
    if not isinstance(call, dict):
        raise invalid_type(param, "an object", call)
    if call.get("type", "function") != "function":
        raise unsupported_value(f"{param}.type", call["type"], ("function",))
    refuse_unknown(call, _CALL_KEYS, param)
    required_text(call, "id", param)
    function = call.get("function")
    if function is None:
        raise missing_parameter(f"{param}.function")
    if not isinstance(function, dict):
        raise invalid_type(f"{param}.function", "an object", function)
    refuse_unknown(function, _FUNCTION_KEYS, f"{param}.function")
    for name in ("name", "arguments"):
        required_text(function, name, f"{param}.function")
    _check_arguments(function["arguments"], f"{param}.function.arguments")


def _check_arguments(text: str, param: str) -> None:
    """Checks arguments, which a chat template renders as an object, never as text."""
    try:
        arguments = strict_loads(text)
    except RecursionError:
        raise invalid_value(param, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = f"it is not valid JSON ({error.msg} at character {error.pos})"
        raise invalid_value(param, reason) from None
    except TooManyValues as error:
        raise invalid_value(param, str(error)) from None
    except ValueError as error:
        raise invalid_value(param, "it holds a number that is out of range") from error
    if not isinstance(arguments, dict):
        raise invalid_value(param, "it is not a JSON object as text, such as '{}'")
