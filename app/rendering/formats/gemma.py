"""The formats of FunctionGemma (`functiongemma`) and Gemma 4 (`gemma4`): objects whose texts stand
between quoting tokens.

    <start_function_call>call:name{key:<escape>text<escape>,count:3}<end_function_call>
    <|tool_call>call:name{key:<|"|>text<|"|>,count:3}<tool_call|>
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from app.domain.models.tool_parsers import ToolParser
from app.domain.texts.strict_json import MAX_DEPTH
from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    loads,
)

_NAME: Final = re.compile(r"\s*call:([^\s{]+)\s*")
_BARE: Final = re.compile(r"[^,:{}\[\]]+")


class Gemma(MarkedCalls):
    def __init__(self, name: ToolParser, *, start: str, end: str, quote: str) -> None:
        super().__init__(name, starts=(start,), others=(end, quote))
        self._end, self._quote = end, quote

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, (start,) = [], self.starts
        reader = _Reader(text, self._quote)
        while (at := text.find(start, reader.position)) >= 0:
            reader.position = at + len(start)
            name = _NAME.match(text, reader.position)
            if name is None:
                raise BrokenCall("it does not begin with call: and a name")
            reader.position = name.end()
            calls.append(ParsedToolCall(name[1], arguments_json(reader.value(0))))
            if not text.startswith(self._end, reader.position):
                raise BrokenCall(f"it does not end with {self._end}")
        return calls


@dataclass(slots=True)
class _Reader:
    text: str
    quote: str
    position: int = 0

    def value(self, depth: int) -> Any:
        """Reads the value at the position. Raises `BrokenCall`."""
        if depth > MAX_DEPTH:
            raise BrokenCall("it is nested too deeply")
        if self._skip(self.quote):
            return self._quoted()
        if self._skip("{"):
            return self._members("}", depth, named=True)
        if self._skip("["):
            return self._members("]", depth, named=False)
        bare = _BARE.match(self.text, self.position)
        if bare is None:
            raise BrokenCall(f"a value is missing at character {self.position}")
        self.position = bare.end()
        word = bare[0].strip()
        return None if word == "None" else loads(word)

    def _members(self, end: str, depth: int, *, named: bool) -> Any:
        members: dict[str, Any] = {}
        items: list[Any] = []
        while not self._skip(end):
            if (members or items) and not self._skip(","):
                raise BrokenCall(f"a comma is missing at character {self.position}")
            if named:
                key = self._key()
                members[key] = self.value(depth + 1)
            else:
                items.append(self.value(depth + 1))
        return members if named else items

    def _key(self) -> str:
        if self._skip(self.quote):
            key = self._quoted()
        else:
            bare = _BARE.match(self.text, self.position)
            key = "" if bare is None else bare[0].strip()
            self.position = self.position if bare is None else bare.end()
        if not key or not self._skip(":"):
            raise BrokenCall(f"a key is missing at character {self.position}")
        return key

    def _quoted(self) -> str:
        end = self.text.find(self.quote, self.position)
        if end < 0:
            raise BrokenCall(f"a text is not closed by {self.quote}")
        text = self.text[self.position : end]
        self.position = end + len(self.quote)
        return text

    def _skip(self, mark: str) -> bool:
        found = self.text.startswith(mark, self.position)
        if found:
            self.position += len(mark)
        return found
