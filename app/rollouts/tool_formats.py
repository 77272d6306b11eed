"""Types of argument values that a format writes as plain text: they come from the tool's schema.

Follows vLLM 0.32's XML parsers: a string parameter keeps its text unchanged, and a value that does
not fit its declared type stays text, so that the check of the arguments names the fault.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from app.kit.strict_json import TooManyValues, strict_loads
from app.models.models import ToolParser

_NULLS: Final = ("null", "none")


def typed_value(text: str, schema: Any, *, guess: bool = False) -> Any:
    """Returns the value of a parameter's text. With `guess`, a parameter without a schema is parsed
    as JSON if it is valid JSON; otherwise it is text.
    """
    types = _types(schema)
    if not types:
        return _json_or_text(text) if guess else text
    if "null" in types and text.strip().lower() in _NULLS:
        return None
    if "string" in types:
        return text
    if text.strip().lower() in _NULLS:
        return None
    if "boolean" in types and text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return _json_or_text(text)


def _types(schema: Any) -> list[str]:
    if not isinstance(schema, dict):
        return []
    declared = schema.get("type")
    branches = [b for key in ("anyOf", "oneOf") for b in schema.get(key) or ()]
    types = [declared] if isinstance(declared, str) else list(declared or ())
    types += [kind for branch in branches for kind in _types(branch)]
    if not types and "enum" in schema:
        types = [_kind(value) for value in schema["enum"]]
    return [kind for kind in types if isinstance(kind, str)]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return "string" if isinstance(value, str) else "number"


def _json_or_text(text: str) -> Any:
    try:
        value = strict_loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value


_DECODER: Final = json.JSONDecoder()

Tools = Sequence[dict[str, Any]]
"""The functions that a conversation offers, in Chat Completions form."""


@dataclass(frozen=True, slots=True)
class ParsedToolCall:
    name: str
    arguments_json: str
    """The arguments: a JSON object as text."""


@dataclass(frozen=True, slots=True)
class ParsedCalls:
    content: str
    """The text before the first call; the whole text if a call is malformed."""
    tool_calls: list[ParsedToolCall]
    """The calls in their order in the text; empty if one of them is malformed."""
    parse_error: str | None
    """The first fault, as a sentence for the model."""


class ToolFormat(Protocol):
    """A format under vLLM's name for it."""

    @property
    def name(self) -> ToolParser: ...

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that the parser needs: a decoder must show them even if they are control
        tokens.
        """
        ...

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        """Returns content and calls of an answer, whose reasoning must be removed before. Values
        that the format writes as plain text get the types of the schemas in `tools`.
        """
        ...

    def final_length(self, text: str) -> int:
        """Returns the number of characters of an unfinished answer that are content whatever
        follows.
        """
        ...


class BrokenCall(ValueError):
    """A call that cannot be parsed; the text is the reason."""


class MarkedCalls:
    """A format whose calls begin with a mark: content is the text before the first one."""

    def __init__(
        self, name: ToolParser, *, starts: tuple[str, ...], others: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.starts = starts
        self.marks = (*starts, *others)

    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        """Returns the calls of a text that begins with a mark. Raises `BrokenCall`."""
        raise NotImplementedError

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        first = first_index(text, self.starts)
        if first is None:
            return content_only(text)
        try:
            calls = self.read(text[first:], tools)
        except BrokenCall as broken:
            return broken_turn(text, broken)
        return ParsedCalls(text[:first].strip(), calls, None)

    def final_length(self, text: str) -> int:
        first = first_index(text, self.starts)
        return len(text) - partial_mark_length(text, self.starts) if first is None else first


def content_only(text: str) -> ParsedCalls:
    return ParsedCalls(text.strip(), [], None)


def broken_turn(text: str, reason: object) -> ParsedCalls:
    sentence = f"Error: the tool call could not be parsed: {reason}."
    return ParsedCalls(text.strip(), [], sentence)


def first_index(text: str, marks: Iterable[str]) -> int | None:
    """Returns the index of the first mark in a text."""
    found = [index for mark in marks if (index := text.find(mark)) >= 0]
    return min(found, default=None)


def partial_mark_length(text: str, marks: Iterable[str]) -> int:
    """Returns the length of the longest text suffix that is a proper prefix of a mark."""
    return max(
        (
            length
            for mark in marks
            for length in range(1, len(mark))
            if text.endswith(mark[:length])
        ),
        default=0,
    )


def closing_index(text: str, mark: str, at: int) -> int:
    """Returns the index of the mark that closes the JSON text at a position, or -1. Strings of the
    JSON may hold the mark too. Raises `BrokenCall`.
    """
    while at < len(text) and text[at].isspace():
        at += 1
    try:
        _, at = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise BrokenCall("it is nested too deeply") from None
    except ValueError:
        pass  # `loads` says why when it reads the text up to the mark
    return text.find(mark, at)


def loads(text: str) -> Any:
    """Returns the value of JSON text. Raises `BrokenCall`."""
    try:
        return strict_loads(text)
    except RecursionError:
        raise BrokenCall("it is nested too deeply") from None
    except TooManyValues as many:
        raise BrokenCall(str(many)) from None
    except json.JSONDecodeError as error:
        raise BrokenCall(f"it is not valid JSON ({error.msg} at character {error.pos})") from None
    except ValueError as error:
        raise BrokenCall(f"it is not valid JSON ({error})") from None


def call_of(value: Any, *, keys: tuple[str, ...] = ("arguments",)) -> ParsedToolCall:
    """Returns the call of an object with a `name` and its arguments under one of `keys`. Raises
    `BrokenCall`.
    """
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name:
        raise BrokenCall('it is not an object with a "name"')
    return ParsedToolCall(name, arguments_json(next((value[k] for k in keys if k in value), None)))


def arguments_json(arguments: Any) -> str:
    """Returns arguments as JSON text. Raises `BrokenCall` for all but objects of JSON values."""
    if not isinstance(arguments, dict):
        raise BrokenCall('its "arguments" are not a JSON object')
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        raise BrokenCall("its arguments cannot be written as JSON") from None
    return text


def parameter_schema(tools: Tools, function: str, parameter: str) -> Any:
    """Returns the schema of one parameter; `None` if the tools do not describe it."""
    for tool in tools:
        described = tool.get("function", tool)
        if described.get("name") == function:
            properties = (described.get("parameters") or {}).get("properties")
            return properties.get(parameter) if isinstance(properties, dict) else None
    return None
