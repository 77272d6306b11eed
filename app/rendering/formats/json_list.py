"""Formats of one JSON list of calls after a mark: Granite 3 (`granite`) and Phi-4-mini
(`phi4_mini_json`).

    <|tool_call|>[{"name": …, "arguments": {…}}, …]
"""

from typing import Any

from typing_extensions import override

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    call_of,
    loads,
)


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
