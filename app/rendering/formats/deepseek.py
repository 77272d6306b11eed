"""The formats of DeepSeek: `deepseek_v3` (with a type and a JSON block) and `deepseek_v31`.

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>name
```json
{…}
```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
"""

from typing import Final, Literal

from typing_extensions import override

from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    closing_index,
    loads,
)

_START: Final = "<｜tool▁calls▁begin｜>"
_CALL_START: Final = "<｜tool▁call▁begin｜>"
_SEPARATOR: Final = "<｜tool▁sep｜>"
_CALL_END: Final = "<｜tool▁call▁end｜>"
_END: Final = "<｜tool▁calls▁end｜>"
_JSON: Final = "\n```json\n"
_JSON_END: Final = f"\n```{_CALL_END}"


class DeepSeek(MarkedCalls):
    def __init__(self, name: Literal["deepseek_v3", "deepseek_v31"]) -> None:
        others = (_CALL_START, _SEPARATOR, _CALL_END, _END)
        super().__init__(name, starts=(_START,), others=others)
        self._call = {"deepseek_v3": _v3, "deepseek_v31": _v31}[name]

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, at = list[ParsedToolCall](), 0
        while (start := text.find(_CALL_START, at)) >= 0:
            name, arguments, at = self._call(text, start + len(_CALL_START))
            calls.append(ParsedToolCall(name.strip(), arguments_json(loads(arguments))))
        if not calls:
            raise _broken()
        return calls


def _v3(text: str, at: int) -> tuple[str, str, int]:
    """Returns name and arguments of the call at `at`, and its end. Raises `BrokenCall`."""
    separator = text.find("<", at)
    begin = separator + len(_SEPARATOR)
    name_end = text.find("\n", begin)
    if (
        not text.startswith(_SEPARATOR, separator)
        or name_end <= begin
        or not text.startswith(_JSON, name_end)
    ):
        raise _broken()
    arguments = name_end + len(_JSON)
    end = _found(text, _JSON_END, arguments)
    return text[begin:name_end], text[arguments:end], end + len(_JSON_END)


def _v31(text: str, at: int) -> tuple[str, str, int]:
    """Returns name and arguments of the call at `at`, and its end. Raises `BrokenCall`."""
    separator = _found(text, _SEPARATOR, at)
    arguments = separator + len(_SEPARATOR)
    end = closing_index(text, _CALL_END, arguments)
    if end < 0:
        raise _broken()
    return text[at:separator], text[arguments:end], end + len(_CALL_END)


def _found(text: str, mark: str, at: int) -> int:
    index = text.find(mark, at)
    if index < 0:
        raise _broken()
    return index


def _broken() -> BrokenCall:
    return BrokenCall(f"it is not a name and its arguments, closed by {_CALL_END}")
