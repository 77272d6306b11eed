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
_END: Final = "</tool_call>"
_KEY: Final = "<arg_key>"
_MARKS: Final = (_END, _KEY, "</arg_key>", "<arg_value>", "</arg_value>")
# Each is searched once, forward from the end of what was read before: a turn costs its length.
_NAME: Final = re.compile(r"\s*+([^\s<{]++)\s*+")
_KEY_END: Final = re.compile(r"</arg_key>\s*+<arg_value>")
_VALUE_END: Final = re.compile(r"</arg_value>\s*+(?=<arg_key>|</tool_call>)")


class Glm45(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START,), others=_MARKS)

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, end = list[ParsedToolCall](), 0
        while (start := text.find(_START, end)) >= 0:
            name = _NAME.match(text, start + len(_START))
            if name is None:
                raise _broken()
            arguments, end = _arguments(text, name.end())
            if not text.startswith(_END, end):
                raise _broken()
            calls.append(ParsedToolCall(name[1], _typed(name[1], arguments, tools)))
        return calls


def _arguments(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Returns the pairs of keys and values from `at` on, and their end. Raises `BrokenCall`."""
    pairs = []
    while text.startswith(_KEY, at):
        key = _KEY_END.search(text, at + len(_KEY))
        value = key and _VALUE_END.search(text, key.end())
        if key is None or value is None:
            raise _broken()
        pairs.append((text[at + len(_KEY) : key.start()].strip(), text[key.end() : value.start()]))
        at = value.end()
    return pairs, at


def _typed(function: str, arguments: list[tuple[str, str]], tools: Tools) -> str:
    return arguments_json(
        {
            key: typed_value(value, parameter_schema(tools, function, key), guess=True)
            for key, value in arguments
        }
    )


def _broken() -> BrokenCall:
    return BrokenCall("it is not a name with <arg_key> and <arg_value> pairs")
