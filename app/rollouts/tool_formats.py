"""Tool calls: what their formats share, and those that are JSON (Hermes, Llama 3, Mistral,
DeepSeek).

Types of values come from the tool's schema, as in vLLM 0.32's parsers, with which these agree.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from typing_extensions import override

from app.kit.strict_json import TooManyValues, strict_loads
from app.models.models import ToolParser

_NULLS: Final = ("null", "none")


def typed_value(text: str, schema: Any, *, guess: bool = False) -> Any:
    """With `guess`, a parameter without a schema is parsed as JSON if it is valid JSON."""
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


@dataclass(frozen=True, slots=True)
class ParsedToolCall:
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class ParsedCalls:
    content: str
    """The text before the first call; the whole text if a call is malformed."""
    tool_calls: list[ParsedToolCall]
    """The calls in their order in the text; empty if one of them is malformed."""
    parse_error: str | None
    """The first fault, as a sentence for the model."""


class ToolFormat(Protocol):
    @property
    def name(self) -> ToolParser: ...

    @property
    def marks(self) -> tuple[str, ...]: ...

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        """Takes an answer without reasoning. Values written as text get the types of `tools`."""
        ...

    def final_length(self, text: str) -> int:
        """Returns the length of an unfinished answer that is content whatever follows."""
        ...


class BrokenCall(ValueError):
    """A call that cannot be parsed; the text is the reason."""


class MarkedCalls:
    def __init__(
        self, name: ToolParser, *, starts: tuple[str, ...], others: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.starts = starts
        self.marks = (*starts, *others)

    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
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
    """Returns the index of the mark that closes the JSON text at a position, or -1: strings of the
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
    """Takes an object with a `name` and its arguments under one of `keys`. Raises `BrokenCall`."""
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name:
        raise BrokenCall('it is not an object with a "name"')
    return ParsedToolCall(name, arguments_json(next((value[k] for k in keys if k in value), None)))


def arguments_json(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        raise BrokenCall('its "arguments" are not a JSON object')
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        raise BrokenCall("its arguments cannot be written as JSON") from None
    return text


def parameter_schema(tools: Tools, function: str, parameter: str) -> Any:
    for tool in tools:
        described = tool.get("function", tool)
        if described.get("name") == function:
            properties = (described.get("parameters") or {}).get("properties")
            return properties.get(parameter) if isinstance(properties, dict) else None
    return None


_START: Final = "<tool_call>"
_END: Final = "</tool_call>"


class Hermes(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("hermes", starts=(_START,), others=(_END,))

    @override
    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        if _END in text and _START not in text:
            return broken_turn(text, f"{_END} without {_START}")
        return super().parse(text, tools)

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, at = list[ParsedToolCall](), 0
        while (start := text.find(_START, at)) >= 0:
            body = start + len(_START)
            end = closing_index(text, _END, body)
            if end < 0:
                raise BrokenCall(f"it does not end with {_END}")
            calls.append(call_of(loads(text[body:end])))
            at = end + len(_END)
        return calls


class JsonList(MarkedCalls):
    def __init__(self, name: ToolParser, *, marks: dict[str, str]) -> None:
        """`marks` maps the start of a list to its end; an empty end means the end of the turn."""
        super().__init__(name, starts=tuple(marks), others=tuple(filter(None, marks.values())))
        self._ends = marks

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        start, end = next(pair for pair in self._ends.items() if text.startswith(pair[0]))
        body = text.removeprefix(start).strip()
        if not body.endswith(end):
            raise BrokenCall(f"it does not end with {end}")
        return calls_of(loads(body.removesuffix(end)))


def calls_of(values: Any) -> list[ParsedToolCall]:
    if not isinstance(values, list) or not values:
        raise BrokenCall("it is not a JSON list of calls")
    return [call_of(value) for value in values]


_PYTHON_TAG: Final = "<|python_tag|>"
_CALL: Final = re.compile(r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:')
_KEYS: Final = ("parameters", "arguments")
_DECODER_FORMATS: Final = json.JSONDecoder()


class Llama3Json:
    def __init__(self, name: ToolParser) -> None:
        self.name = name
        self.marks = (_PYTHON_TAG,)

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        del tools  # JSON has its own types
        body = text.strip()
        tagged = body.startswith(_PYTHON_TAG)
        body = body.removeprefix(_PYTHON_TAG).lstrip()
        if not tagged and not _CALL.match(body):
            return content_only(text)
        try:
            return ParsedCalls("", _read(body), None)
        except BrokenCall as broken:
            return broken_turn(text, broken)

    def final_length(self, text: str) -> int:
        body = text.lstrip()
        undecided = not body or body.startswith(("{", _PYTHON_TAG)) or _PYTHON_TAG.startswith(body)
        return 0 if undecided else len(text)


def _read(body: str) -> list[ParsedToolCall]:
    calls, at = list[ParsedToolCall](), 0
    while True:
        try:
            _, end = _DECODER_FORMATS.raw_decode(body, at)
        except RecursionError:
            raise BrokenCall("it is nested too deeply") from None
        except ValueError:
            end = len(body)  # the strict parser below says why
        calls.append(call_of(loads(body[at:end]), keys=_KEYS))
        at = _after_space(body, end)
        if at == len(body):
            return calls
        if body[at] != ";":
            raise BrokenCall("it has text after its JSON object")
        at = _after_space(body, at + 1)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


_START_MISTRAL: Final = "[TOOL_CALLS]"
_CALL_NAME: Final = re.compile(
    r"\s*(?P<name>[^\s\[{]+)(?:\[CALL_ID\][^\s\[{]*)?(?:\[ARGS\])?\s*(?=\{)"
)


class Mistral(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("mistral", starts=(_START_MISTRAL,), others=("[ARGS]", "[CALL_ID]"))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        body = text.removeprefix(_START_MISTRAL).strip()
        if body.startswith("["):
            return calls_of(loads(body))
        calls, at = [], 0
        while at >= 0:
            call, at = _named(body, at)
            calls.append(call)
        return calls


def _named(text: str, at: int) -> tuple[ParsedToolCall, int]:
    match = _CALL_NAME.match(text, at)
    if match is None:
        raise BrokenCall("it is neither a JSON list of calls nor a name with its arguments")
    next_mark = closing_index(text, _START_MISTRAL, match.end())
    arguments = text[match.end() : next_mark] if next_mark >= 0 else text[match.end() :]
    call = ParsedToolCall(match["name"], arguments_json(loads(arguments)))
    return call, next_mark + len(_START_MISTRAL) if next_mark >= 0 else -1


_START_DEEPSEEK: Final = "<｜tool▁calls▁begin｜>"
_CALL_START: Final = "<｜tool▁call▁begin｜>"
_SEPARATOR: Final = "<｜tool▁sep｜>"
_CALL_END: Final = "<｜tool▁call▁end｜>"
_END_DEEPSEEK: Final = "<｜tool▁calls▁end｜>"
_JSON: Final = "\n```json\n"
_JSON_END: Final = f"\n```{_CALL_END}"


class DeepSeek(MarkedCalls):
    def __init__(self, name: Literal["deepseek_v3", "deepseek_v31"]) -> None:
        others = (_CALL_START, _SEPARATOR, _CALL_END, _END_DEEPSEEK)
        super().__init__(name, starts=(_START_DEEPSEEK,), others=others)
        self._call = {"deepseek_v3": _v3, "deepseek_v31": _v31}[name]

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, at = list[ParsedToolCall](), 0
        while (start := text.find(_CALL_START, at)) >= 0:
            name, arguments, at = self._call(text, start + len(_CALL_START))
            calls.append(ParsedToolCall(name.strip(), arguments_json(loads(arguments))))
        if not calls:
            raise _broken()
        return calls


def _v3(text: str, at: int) -> tuple[str, str, int]:
    separator = text.find("<", at)
    begin = separator + len(_SEPARATOR)
    name_end = text.find("\n", begin)
    if (
        not text.startswith(_SEPARATOR, separator)
        or name_end <= begin
        or not text.startswith(_JSON, name_end)
    ):
        raise _broken()
    arguments = name_end + len(_JSON)
    end = _found(text, _JSON_END, arguments)
    return text[begin:name_end], text[arguments:end], end + len(_JSON_END)


def _v31(text: str, at: int) -> tuple[str, str, int]:
    separator = _found(text, _SEPARATOR, at)
    arguments = separator + len(_SEPARATOR)
    end = closing_index(text, _CALL_END, arguments)
    if end < 0:
        raise _broken()
    return text[at:separator], text[arguments:end], end + len(_CALL_END)


def _found(text: str, mark: str, at: int) -> int:
    index = text.find(mark, at)
    if index < 0:
        raise _broken()
    return index


def _broken() -> BrokenCall:
    return BrokenCall(f"it is not a name and its arguments, closed by {_CALL_END}")
