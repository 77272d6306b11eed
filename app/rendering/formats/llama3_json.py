"""The JSON format of Llama 3.x, which vLLM calls `llama3_json` and `llama4_json`: a turn that is
nothing but objects `{"name": …, "parameters": {…}}`, separated by semicolons.

A turn of another JSON value is an answer: only an object that begins with a name is a call.
"""

import json
import re
from typing import Final

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.tool_format import (
    BrokenCall,
    ParsedCalls,
    ParsedToolCall,
    Tools,
    broken_turn,
    call_of,
    content_only,
    loads,
)

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
