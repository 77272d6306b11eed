"""The Hermes format: any number of `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

Agrees with vLLM 0.32's `hermes` parser: content is the text before the first call, arguments are
re-serialised with default separators, and a turn with a malformed call has no calls and all of its
text as content.
"""

from typing import Final

from typing_extensions import override

from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedCalls,
    ParsedToolCall,
    Tools,
    broken_turn,
    call_of,
    closing_index,
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
