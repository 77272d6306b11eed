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
from typing import Final

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
_CALL: Final = re.compile(
    r"<tool_call>\s*<function=(?P<name>[^>\n]+)>(?P<body>.*?)</function>\s*</tool_call>", re.DOTALL
)
_PARAMETER: Final = re.compile(
    r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>(?=\s*(?:<parameter=|$))",
    re.DOTALL,
)


class Qwen3Coder(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START,), others=("</tool_call>",))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls = [
            ParsedToolCall(match["name"], _arguments(match["name"], match["body"], tools))
            for match in _CALL.finditer(text)
        ]
        if _START in _CALL.sub("", text):
            raise BrokenCall("it is not <function=…> with its parameters, closed by </tool_call>")
        return calls


def _arguments(function: str, body: str, tools: Tools) -> str:
    if _PARAMETER.sub("", body).strip():
        raise BrokenCall("its function has text outside of <parameter=…> … </parameter>")
    return arguments_json(
        {
            match["key"]: typed_value(
                match["value"], parameter_schema(tools, function, match["key"])
            )
            for match in _PARAMETER.finditer(body)
        }
    )
