"""The format of GLM-4.5 and later, which vLLM calls `glm45` and `glm47`.

<tool_call>name
<arg_key>key</arg_key>
<arg_value>value</arg_value>
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
_MARKS: Final = ("</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_CALL: Final = re.compile(
    r"<tool_call>\s*(?P<name>[^\s<{]+)\s*"
    r"(?P<body>(?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)</tool_call>",
    re.DOTALL,
)
_ARGUMENT: Final = re.compile(
    r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>", re.DOTALL
)


class Glm45(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START,), others=_MARKS)

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls = [
            ParsedToolCall(match["name"], _arguments(match["name"], match["body"], tools))
            for match in _CALL.finditer(text)
        ]
        if _START in _CALL.sub("", text):
            raise BrokenCall("it is not a name with <arg_key> and <arg_value> pairs")
        return calls


def _arguments(function: str, body: str, tools: Tools) -> str:
    return arguments_json(
        {
            match["key"].strip(): typed_value(
                match["value"],
                parameter_schema(tools, function, match["key"].strip()),
                guess=True,
            )
            for match in _ARGUMENT.finditer(body)
        }
    )
