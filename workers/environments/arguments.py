"""Checks a tool call of the model before it is sent: the tool's name and the top-level arguments.

Owns the check against the schema that is offered: required, unknown and wrongly typed top-level
keys. Nested values are left to the tool. Promises: a customer's schema never makes the check raise;
a part that is not valid JSON schema is not checked.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.rendering.formats.tool_format import ParsedToolCall

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class CallFault:
    text: str
    """The message to the model."""
    error: str
    """`unknown_tool` or `bad_arguments`."""


def check_arguments(call: ParsedToolCall, schemas: Sequence[dict[str, Any]]) -> CallFault | None:
    """Returns the model's mistake; `None` when the call may be sent."""
    functions = {tool["function"]["name"]: tool["function"] for tool in schemas}
    function = functions.get(call.name)
    if function is None:
        offered = ", ".join(functions) or "none"
        return CallFault(
            f"Error: there is no tool {call.name!r}. Tools: {offered}.", "unknown_tool"
        )
    try:
        arguments = json.loads(call.arguments_json)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return CallFault("Error: the arguments are not a JSON object.", "bad_arguments")
    fault = _mismatch(arguments, function.get("parameters") or {})
    if fault is None:
        return None
    return CallFault(f"Error: wrong arguments for {call.name}: {fault}.", "bad_arguments")


def _mismatch(arguments: dict[str, Any], schema: dict[str, Any]) -> str | None:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in arguments:
            return f"{name!r} is missing"
    if schema.get("additionalProperties") is False:
        for name in arguments:
            if name not in properties:
                return f"{name!r} is not a parameter"
    for name, value in arguments.items():
        expected = _wrong_type(value, properties.get(name))
        if expected is not None:
            return f"{name!r} must be of type {expected}"
    return None


def _wrong_type(value: Any, schema: Any) -> str | None:
    """Returns the expected type; `None` if the value has it or the type is unknown."""
    named = schema.get("type") if isinstance(schema, dict) else None
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not names:
        return None
    if any(not isinstance(name, str) or name not in _TYPES for name in names):
        return None
    return None if any(_is(value, name) for name in names) else " or ".join(names)


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])
