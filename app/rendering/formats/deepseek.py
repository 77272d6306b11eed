"""The formats of DeepSeek: `deepseek_v3` (with a type and a JSON block) and `deepseek_v31`.

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>name
```json
{…}
```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
"""

import re
from typing import Final, Literal

from typing_extensions import override

from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    loads,
)

_START: Final = "<｜tool▁calls▁begin｜>"
_CALL_START: Final = "<｜tool▁call▁begin｜>"
_SEPARATOR: Final = "<｜tool▁sep｜>"
_CALL_END: Final = "<｜tool▁call▁end｜>"
_END: Final = "<｜tool▁calls▁end｜>"
_V3: Final = re.compile(
    rf"{_CALL_START}[^<]*{_SEPARATOR}(?P<name>[^\n]+)\n```json\n(?P<arguments>.*?)\n```{_CALL_END}",
    re.DOTALL,
)
_V31: Final = re.compile(
    rf"{_CALL_START}(?P<name>.*?){_SEPARATOR}(?P<arguments>.*?){_CALL_END}", re.DOTALL
)


class DeepSeek(MarkedCalls):
    def __init__(self, name: Literal["deepseek_v3", "deepseek_v31"]) -> None:
        others = (_CALL_START, _SEPARATOR, _CALL_END, _END)
        super().__init__(name, starts=(_START,), others=others)
        self._call = {"deepseek_v3": _V3, "deepseek_v31": _V31}[name]

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls = [
            ParsedToolCall(match["name"].strip(), arguments_json(loads(match["arguments"])))
            for match in self._call.finditer(text)
        ]
        if not calls or _CALL_START in self._call.sub("", text):
            raise BrokenCall(f"it is not a name and its arguments, closed by {_CALL_END}")
        return calls
