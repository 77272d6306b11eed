"""Checks the tools of a chat and the choice among them."""

from re import compile as pattern
from typing import Any, Final

from app.domain.chat.faults import (
    invalid_type,
    invalid_value,
    not_one_of,
    unsupported_value,
)
from app.domain.chat.messages import optional_text, refuse_unknown, required_text
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, missing_parameter
from app.domain.faults.schemas import refuse_function_schema
from app.domain.methods.reinforcement import MAX_TOOLS
from app.domain.texts.patterns import PATTERNS, TOOL_NAME

_CHOICES: Final = ("none", "auto", "required")
_NAME: Final = pattern(TOOL_NAME)
_FUNCTION_KEYS: Final = ("name", "description", "parameters", "strict")
_NEEDS_TOOLS: Final = ("tool_choice", "parallel_tool_calls")
"""Parameters that the hosted API refuses without tools."""


def check_tools(param: str, value: Any) -> None:
    """Raises `InvalidRequest` for the first tool that cannot be offered."""
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
    """Raises `InvalidRequest` for a choice without tools, or of a tool that is not offered."""
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
    _check_name(tool.get("function"), inner, known=_FUNCTION_KEYS)
    function = tool["function"]
    optional_text(function, "description", inner)
    strict, schema = function.get("strict"), function.get("parameters")
    if strict is not None and not isinstance(strict, bool):
        raise invalid_type(f"{inner}.strict", "a boolean", strict)
    if schema is not None:
        _check_schema(schema, f"{inner}.parameters", function["name"])


def _check_name(function: Any, item_param: str, *, known: tuple[str, ...]) -> None:
    if function is None:
        raise missing_parameter(item_param)
    if not isinstance(function, dict):
        raise invalid_type(item_param, "an object", function)
    refuse_unknown(function, known, item_param)
    required_text(function, "name", item_param)
    if _NAME.fullmatch(function["name"]) is None:
        raise invalid_value(f"{item_param}.name", f"it must be {PATTERNS[TOOL_NAME]}")


def _check_schema(schema: Any, item_param: str, name: str) -> None:
    if not isinstance(schema, dict):
        raise invalid_type(item_param, "an object", schema)
    refuse_function_schema(schema, item_param, name)
