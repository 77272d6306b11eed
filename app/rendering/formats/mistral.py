"""The format of Mistral, `mistral` in vLLM: a JSON list after `[TOOL_CALLS]`, or since tokenizer
version 11 a mark, a name and a JSON object for each call.

    [TOOL_CALLS] [{"name": …, "arguments": {…}, "id": …}]
    [TOOL_CALLS]name[ARGS]{…}
"""

import re
from typing import Final

from typing_extensions import override

from app.rendering.formats.json_list import calls_of
from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    closing_index,
    loads,
)

_START: Final = "[TOOL_CALLS]"
_CALL_NAME: Final = re.compile(
    r"\s*(?P<name>[^\s\[{]+)(?:\[CALL_ID\][^\s\[{]*)?(?:\[ARGS\])?\s*(?=\{)"
)


class Mistral(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("mistral", starts=(_START,), others=("[ARGS]", "[CALL_ID]"))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        body = text.removeprefix(_START).strip()
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
    next_mark = closing_index(text, _START, match.end())
    arguments = text[match.end() : next_mark] if next_mark >= 0 else text[match.end() :]
    call = ParsedToolCall(match["name"], arguments_json(loads(arguments)))
    return call, next_mark + len(_START) if next_mark >= 0 else -1
