"""The one check of the function tools of chats, rows, environments and feedback."""

from collections.abc import Iterator, Sequence
from re import compile as pattern
from types import MappingProxyType
from typing import Any, Final

from app.files.shape_faults import (
    ShapeFault,
    invalid_schema,
    invalid_type,
    invalid_value,
    missing,
    not_one_of,
    refuse_unknown,
    required_text_faults,
    text_faults,
    too_long,
    unknown_in,
    unknown_parameter,
    unsupported_value,
)
from app.jobs.reinforcement import MAX_TOOLS
from app.kit.fields import Json, Path, parameter
from app.kit.json_schemas import function_schema_fault
from app.kit.texts import PATTERNS, TOOL_NAME

_CHOICES: Final = ("none", "auto", "required")
_NAME: Final = pattern(TOOL_NAME)
_TOOL_KEYS: Final = ("type", "function")
_FUNCTION_KEYS: Final = ("name", "description", "parameters", "strict")
_NEEDS_TOOLS: Final = ("tool_choice", "parallel_tool_calls")
_WRAPPED: Final = '{"type": "function", "function": {"name": …, "description": …, "parameters": …}}'
_FORMS: Final = MappingProxyType(
    {
        "input_schema": "the form of the Anthropic API",
        "inputSchema": "the form of an MCP server",
        "functionDeclarations": "the form of the Gemini API",
        "function_declarations": "the form of the Gemini API",
        "name": "the form of the Responses API",
    }
)
"""Keys of tools of other APIs."""


def check_tools(param: str, value: Any) -> None:
    for fault in tools_faults(value, (param,)):
        raise fault
    for path in unknown_tool_keys(value, (param,)):
        raise unknown_parameter(path)


def tools_faults(tools: Any, path: Path) -> Iterator[ShapeFault]:
    if not isinstance(tools, list):
        yield invalid_type(path, "an array", tools)
        return
    size = too_long(tools, path, MAX_TOOLS)
    if size is not None:
        yield size
        return
    first = dict[str, int]()
    for position, tool in enumerate(tools):
        own = list(_tool_faults(tool, (*path, position)))
        yield from own
        if own:
            continue
        name = tool["function"]["name"]
        if first.setdefault(name, position) != position:
            earlier = parameter("", (*path, first[name]))
            reason = f"'{earlier}' has the same name: one tool is listed twice"
            yield invalid_value((*path, position, "function", "name"), reason)


def unknown_tool_keys(tools: Sequence[Json], path: Path) -> Iterator[Path]:
    """Yields the places of keys that the hosted API refuses, in tools without a fault."""
    for position, tool in enumerate(tools):
        yield from unknown_in(tool, _TOOL_KEYS, (*path, position))
        inner = (*path, position, "function")
        yield from unknown_in(tool["function"], _FUNCTION_KEYS, inner)


def check_tool_choice(param: str, value: Any) -> None:
    if isinstance(value, str):
        if value not in _CHOICES:
            raise not_one_of(param, value, _CHOICES)
        return
    if not isinstance(value, dict):
        raise invalid_type(param, "a string or an object", value)
    if value.get("type") != "function":
        raise unsupported_value(f"{param}.type", value.get("type"), ("function",))
    refuse_unknown(value, _TOOL_KEYS, param)
    for fault in _name_faults(value.get("function"), (param, "function")):
        raise fault
    refuse_unknown(value["function"], ("name",), f"{param}.function")


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


def _tool_faults(tool: Any, path: Path) -> Iterator[ShapeFault]:
    if not isinstance(tool, dict):
        yield invalid_type(path, "an object", tool)
        return
    form = next((form for key, form in _FORMS.items() if tool.get(key) is not None), None)
    if form is not None and tool.get("function") is None:
        yield invalid_value((*path, "function"), f"the tool has {form}; send it as {_WRAPPED}")
        return
    if tool.get("type") is None:
        yield missing((*path, "type"))
        return
    if tool["type"] != "function":
        yield unsupported_value((*path, "type"), tool["type"], ("function",))
        return
    function, inner = tool.get("function"), (*path, "function")
    own = list(_name_faults(function, inner))
    yield from own
    if not isinstance(function, dict):
        return
    yield from text_faults(function, ("description",), inner)
    strict, schema = function.get("strict"), function.get("parameters")
    if strict is not None and not isinstance(strict, bool):
        yield invalid_type((*inner, "strict"), "a boolean", strict)
    if schema is not None and not isinstance(schema, dict):
        yield invalid_type((*inner, "parameters"), "an object", schema)
    elif schema is not None and not own and (found := function_schema_fault(schema)):
        yield invalid_schema((*inner, "parameters"), *found, name=function["name"])


def _name_faults(function: Any, path: Path) -> Iterator[ShapeFault]:
    if function is None:
        yield missing(path)
    elif not isinstance(function, dict):
        yield invalid_type(path, "an object", function)
    else:
        own = list(required_text_faults(function, ("name",), path))
        yield from own
        if not own and _NAME.fullmatch(function["name"]) is None:
            yield invalid_value((*path, "name"), f"it must be {PATTERNS[TOOL_NAME]}")
