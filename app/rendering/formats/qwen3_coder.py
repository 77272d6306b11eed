"""The XML format of Qwen3-Coder and Qwen3.5, which vLLM calls `qwen3_coder` and `qwen3_xml`.

<tool_call>
<function=name>
<parameter=key>
value
</parameter>
</function>
</tool_call>
"""

import re
from typing import Any, Final

from typing_extensions import override

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    parameter_schema,
)
from app.rendering.formats.typed_values import typed_value

_START: Final = "<tool_call>"
# Each is searched once, forward from the end of what was read before: a turn costs its length.
_HEAD: Final = re.compile(r"\s*+<function=([^>\n]++)>")
_END: Final = re.compile(r"</function>\s*+</tool_call>")
_KEY: Final = re.compile(r"\s*+<parameter=([^>\n]++)>")
_VALUE_END: Final = re.compile(r"</parameter>(?=\s*+(?:<parameter=|\Z))")


class Qwen3Coder(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START,), others=("</tool_call>",))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, at = list[ParsedToolCall](), 0
        while (start := text.find(_START, at)) >= 0:
            head = _HEAD.match(text, start + len(_START))
            end = head and _END.search(text, head.end())
            if head is None or end is None:
                raise BrokenCall(
                    "it is not <function=…> with its parameters, closed by </tool_call>"
                )
            body = text[head.end() : end.start()]
            calls.append(ParsedToolCall(head[1], _arguments(head[1], body, tools)))
            at = end.end()
        return calls


def _arguments(function: str, body: str, tools: Tools) -> str:
    values, at = dict[str, Any](), 0
    while (key := _KEY.match(body, at)) is not None:
        end = _VALUE_END.search(body, key.end())
        if end is None:
            break
        text = body[key.end() : end.start()].removeprefix("\n").removesuffix("\n")
        values[key[1]] = typed_value(text, parameter_schema(tools, function, key[1]))
        at = end.end()
    if body[at:].strip():
        raise BrokenCall("its function has text outside of <parameter=…> … </parameter>")
    return arguments_json(values)
