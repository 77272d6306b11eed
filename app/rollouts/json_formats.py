"""The Hermes format: any number of `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

Agrees with vLLM 0.32's `hermes` parser: content is the text before the first call, arguments are
re-serialised with default separators, and a turn with a malformed call has no calls and all of its
text as content.
"""

import json
import re
from typing import Any, Final, Literal

from typing_extensions import override

from app.models.models import ToolParser
from app.rollouts.tool_formats import (
    BrokenCall,
    MarkedCalls,
    ParsedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    broken_turn,
    call_of,
    closing_index,
    content_only,
    loads,
)

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
    """Returns the calls of a JSON list. Raises `BrokenCall`."""
    if not isinstance(values, list) or not values:
        raise BrokenCall("it is not a JSON list of calls")
    return [call_of(value) for value in values]


_PYTHON_TAG: Final = "<|python_tag|>"
_CALL: Final = re.compile(r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:')
_KEYS: Final = ("parameters", "arguments")
_DECODER: Final = json.JSONDecoder()


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
            _, end = _DECODER.raw_decode(body, at)
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
    """Returns the call at a position, and the position of the next one; -1 behind the last one.
    Raises `BrokenCall`.
    """
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
    """Returns name and arguments of the call at `at`, and its end. Raises `BrokenCall`."""
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
    """Returns name and arguments of the call at `at`, and its end. Raises `BrokenCall`."""
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
