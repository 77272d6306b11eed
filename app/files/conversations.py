"""Checks a chat's messages and tools, and writes them as every engine reads them."""

import json
from collections.abc import Iterable
from re import compile as pattern
from types import MappingProxyType
from typing import Any, Final

from app.jobs.reinforcement import MAX_TOOLS
from app.kit.errors import InvalidRequest, missing_parameter
from app.kit.fields import Json
from app.kit.json_schemas import refuse_function_schema
from app.kit.strict_json import TooManyValues, strict_loads
from app.kit.texts import PATTERNS, TOOL_NAME
from app.models.chat import with_names_of_calls

MAX_MESSAGES: Final = 2048
_SHOWN: Final = 64
_COPIED: Final = ("role", "name", "tool_call_id")


def check_conversation(messages: list[Any]) -> None:
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
    return with_names_of_calls(list(map(_engine_message, messages)))


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
"""Known keys of a message by role. Clients send back those of replies, such as `annotations`,
`parsed`, `index` and `parsed_arguments`."""
_CALL_KEYS: Final = ("id", "type", "function", "index")
_FUNCTION_KEYS: Final = ("name", "arguments", "parsed_arguments")
_REPLACES_CONTENT: Final = ("tool_calls", "refusal", *REASONING)
"""Fields that an assistant message may have instead of content; a turn may end in reasoning."""


def check_message(message: Any, param: str) -> None:
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


_CHOICES: Final = ("none", "auto", "required")
_NAME: Final = pattern(TOOL_NAME)
_FUNCTION_KEYS_TOOLS: Final = ("name", "description", "parameters", "strict")
_NEEDS_TOOLS: Final = ("tool_choice", "parallel_tool_calls")


def check_tools(param: str, value: Any) -> None:
    if not isinstance(value, list):
        raise invalid_type(param, "an array", value)
    if len(value) > MAX_TOOLS:
        raise InvalidRequest(
            f"Invalid '{param}': array too long. Expected an array with maximum length "
            f"{MAX_TOOLS}, but got an array with length {len(value)} instead.",
            param=param,
            code="array_above_max_length",
        )
    first = dict[str, str]()
    for position, tool in enumerate(value):
        item_param = f"{param}[{position}]"
        _check_tool(tool, item_param)
        name = tool["function"]["name"]
        if first.setdefault(name, item_param) != item_param:
            raise invalid_value(f"{item_param}.function.name", f"'{first[name]}' has the same name")


def check_tool_choice(param: str, value: Any) -> None:
    if isinstance(value, str):
        if value not in _CHOICES:
            raise not_one_of(param, value, _CHOICES)
        return
    if not isinstance(value, dict):
        raise invalid_type(param, "a string or an object", value)
    if value.get("type") != "function":
        raise unsupported_value(f"{param}.type", value.get("type"), ("function",))
    refuse_unknown(value, ("type", "function"), param)
    _check_name(value.get("function"), f"{param}.function", known=("name",))


def check_choice_among_tools(body: Json) -> None:
    for name in _NEEDS_TOOLS:
        if body.get(name) is not None and not body.get("tools"):
            reason = "it is only allowed when 'tools' are specified"
            raise invalid_value(name, reason)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        chosen = choice["function"]["name"]
        if chosen not in {tool["function"]["name"] for tool in body["tools"]}:
            raise invalid_value("tool_choice.function.name", f"'tools' has no '{chosen}'")


def _check_tool(tool: Any, item_param: str) -> None:
    if not isinstance(tool, dict):
        raise invalid_type(item_param, "an object", tool)
    if "type" not in tool:
        raise missing_parameter(f"{item_param}.type")
    if tool["type"] != "function":
        raise unsupported_value(f"{item_param}.type", tool["type"], ("function",))
    refuse_unknown(tool, ("type", "function"), item_param)
    inner = f"{item_param}.function"
    _check_name(tool.get("function"), inner, known=_FUNCTION_KEYS_TOOLS)
    function = tool["function"]
    optional_text(function, "description", inner)
    strict, schema = function.get("strict"), function.get("parameters")
    if strict is not None and not isinstance(strict, bool):
        raise invalid_type(f"{inner}.strict", "a boolean", strict)
    if schema is not None:
        if not isinstance(schema, dict):
            raise invalid_type(f"{inner}.parameters", "an object", schema)
        refuse_function_schema(schema, f"{inner}.parameters", function["name"])


def _check_name(function: Any, item_param: str, *, known: tuple[str, ...]) -> None:
    if function is None:
        raise missing_parameter(item_param)
    if not isinstance(function, dict):
        raise invalid_type(item_param, "an object", function)
    refuse_unknown(function, known, item_param)
    required_text(function, "name", item_param)
    if _NAME.fullmatch(function["name"]) is None:
        raise invalid_value(f"{item_param}.name", f"it must be {PATTERNS[TOOL_NAME]}")


_SHOWN_FAULTS: Final = 64
_KINDS: Final = {
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def invalid_type(param: str, expected: str, value: Any) -> InvalidRequest:
    """Returns the error for a wrong type; `expected` has its article: `a string`."""
    found = _KINDS.get(type(value), "something else")
    instead = "null" if value is None else f"{found} instead"
    return InvalidRequest(
        f"Invalid type for '{param}': expected {expected}, but got {instead}.",
        param=param,
        code="invalid_type",
    )


def unknown_parameter(param: str) -> InvalidRequest:
    return InvalidRequest(
        f"Unknown parameter: '{param}'. Remove it.", param=param, code="unknown_parameter"
    )


def invalid_value(param: str, reason: str) -> InvalidRequest:
    """Returns the error for a wrong value; `reason` is a clause without a full stop."""
    return InvalidRequest(f"Invalid '{param}': {reason}.", param=param, code="invalid_value")


def not_one_of(param: str, value: Any, supported: Iterable[str]) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid value: {shown_value(value)}. Supported values are: {_listed(supported)}.",
        param=param,
        code="invalid_value",
    )


def unsupported_value(param: str, value: Any, supported: Iterable[Any]) -> InvalidRequest:
    return InvalidRequest(
        f"Unsupported value: '{param}' does not support {shown_value(value)} here. "
        f"Supported values are: {_listed(supported)}.",
        param=param,
        code="unsupported_value",
    )


def unsupported_parameter(param: str, cure: str) -> InvalidRequest:
    """Refuses a parameter that only the hosted API knows. `cure` is a sentence."""
    return InvalidRequest(
        f"Unsupported parameter: '{param}' is not supported here. {cure}",
        param=param,
        code="unsupported_parameter",
    )


def too_low(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    """`kind` is `integer` or `decimal`; `bound` is `>= 0` or `> 0`."""
    return InvalidRequest(
        f"Invalid '{param}': {kind} below minimum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_below_min_value",
    )


def too_high(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid '{param}': {kind} above maximum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_above_max_value",
    )


def shown_value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value[:_SHOWN_FAULTS]}'"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 200:
        return "a very large number"  # Python refuses to print integers of 5,000 digits
    return json.dumps(value)[:_SHOWN_FAULTS]


def _listed(values: Iterable[Any]) -> str:
    quoted = [shown_value(value) for value in values]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
