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
    loads,
)

_START: Final = "[TOOL_CALLS]"
_NAMED: Final = re.compile(
    r"\s*(?P<name>[^\s\[{]+)(?:\[CALL_ID\][^\s\[{]*)?(?:\[ARGS\])?\s*(?P<arguments>\{.*)", re.DOTALL
)


class Mistral(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("mistral", starts=(_START,), others=("[ARGS]", "[CALL_ID]"))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        body = text.removeprefix(_START).strip()
        if body.startswith("["):
            return calls_of(loads(body))
        return [_named(part) for part in body.split(_START)]


def _named(text: str) -> ParsedToolCall:
    match = _NAMED.fullmatch(text)
    if match is None:
        raise BrokenCall("it is neither a JSON list of calls nor a name with its arguments")
    return ParsedToolCall(match["name"], arguments_json(loads(match["arguments"])))
