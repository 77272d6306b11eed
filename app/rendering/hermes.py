"""Parses the Hermes tool-call format: any number of
`<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

Owns the separation of content and calls. Promises never to raise on a model's text and never to
evaluate it: a malformed call becomes a `parse_error` sentence for the model. Agrees with vLLM
0.32's `hermes` parser: content is the text before the first call, arguments are re-serialised with
default separators, and a turn with a malformed call has no calls and all of its text as content.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from app.domain.strict_json import strict_loads

CALL_START: Final = "<tool_call>"
CALL_END: Final = "</tool_call>"
_CALL: Final = re.compile(r"<tool_call>(.*?)(</tool_call>|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedToolCall:
    name: str
    arguments_json: str
    """The arguments: a JSON object as text."""


@dataclass(frozen=True, slots=True)
class ParsedCalls:
    content: str
    """The text before the first call; all of it if a call is malformed."""
    tool_calls: list[ParsedToolCall]
    """In their order in the text; none if one of them is malformed."""
    parse_error: str | None
    """The first fault, as a sentence for the model."""


def parse_tool_calls(text: str) -> ParsedCalls:
    """Returns content and calls of an assistant turn, whose reasoning must be removed before."""
    calls: list[ParsedToolCall] = []
    error: str | None = None
    for match in _CALL.finditer(text):
        try:
            calls.append(_parse_call(match[1], closed=bool(match[2])))
        except _BrokenCall as broken:
            error = error or f"Error: the tool call could not be parsed: {broken}."
    if error is None and not calls and CALL_END in text:
        error = f"Error: the tool call could not be parsed: {CALL_END} without {CALL_START}."
    if error is not None:
        return ParsedCalls(text.strip(), [], error)
    return ParsedCalls(text.partition(CALL_START)[0].strip(), calls, None)


class _BrokenCall(ValueError):
    pass


def _parse_call(text: str, *, closed: bool) -> ParsedToolCall:
    if not closed:
        raise _BrokenCall(f"it does not end with {CALL_END}")
    try:
        call = strict_loads(text)
    except RecursionError:
        raise _BrokenCall("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _BrokenCall(f"it is not valid JSON ({error.msg} at character {error.pos})") from None
    except ValueError as error:
        raise _BrokenCall(f"it is not valid JSON ({error})") from None
    return ParsedToolCall(_name(call), _arguments(call))


def _name(call: Any) -> str:
    name = call.get("name") if isinstance(call, dict) else None
    if not isinstance(name, str) or not name:
        raise _BrokenCall('it is not an object with a "name"')
    return name


def _arguments(call: dict[str, Any]) -> str:
    arguments = call.get("arguments")
    if not isinstance(arguments, dict):
        raise _BrokenCall('its "arguments" are not a JSON object')
    return json.dumps(arguments, ensure_ascii=False)
