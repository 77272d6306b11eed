"""Reads tool calls that a model wrote as text, in the forms that models really use.

Owns these forms, tried in this order; the first one that gives a call is taken:
1. tags: `<tool_call>{…}</tool_call>`, `<function_call>{…}</function_call>`, `<tool>{…}</tool>`,
   and `<function=name>{…}</function>`;
2. XML: `<invoke name="f"><parameter name="a">…</parameter></invoke>`, and
   `<function=f><parameter=a>…</parameter></function>`;
3. Markdown: a fenced block of JSON;
4. raw: the whole text is JSON.
JSON names the function as `name`, `function` or `tool`, and its arguments as `arguments`,
`parameters`, `args` or `input`; a list holds several calls. Promises: time proportional to the
text. Must not know what calls are compared with.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.domain.strict_json import strict_loads
from app.grading.fences import Block, blocks, fenced_blocks

MAX_CALLS: Final = 256
_TAGS: Final = ("tool_call", "function_call", "tool")
_NAMES: Final = ("name", "function", "tool")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")


class RawText(str):
    """The value of an XML parameter, whose type the text does not say."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class WrittenCall:
    name: str
    arguments: dict[str, Any]


def read_calls(text: str) -> list[WrittenCall]:
    """Returns the calls in a text, in its order."""
    for form in (_tagged, _xml, _fenced, _raw):
        calls = list(form(text))
        if calls:
            return calls[:MAX_CALLS]
    return []


def calls_of(value: Any) -> list[WrittenCall]:
    """Returns the calls of a JSON value: one call or a list of them, in chat form too."""
    entries = value if isinstance(value, list) else [value]
    return [call for entry in entries[:MAX_CALLS] if (call := _call(entry)) is not None]


def _call(entry: Any) -> WrittenCall | None:
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    if isinstance(function, dict):
        return _call(function) if not isinstance(function.get("function"), dict) else None
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is None:
        return None
    arguments: Any = next((entry[key] for key in _ARGUMENTS if key in entry), {})
    if isinstance(arguments, str):
        arguments = _json(arguments)
    return WrittenCall(name, arguments) if isinstance(arguments, dict) else WrittenCall(name, {})


def _tagged(text: str) -> Iterator[WrittenCall]:
    for tag in _TAGS:
        for block in blocks(text, f"<{tag}", ">", f"</{tag}>"):
            yield from calls_of(_json(block.text))
    for block in blocks(text, "<function=", ">", "</function>"):
        arguments = _json(block.text)
        if isinstance(arguments, dict):
            yield WrittenCall(_unquoted(block.label), arguments)


def _xml(text: str) -> Iterator[WrittenCall]:
    for block in blocks(text, "<invoke name=", ">", "</invoke>"):
        yield _xml_call(block, "<parameter name=")
    for block in blocks(text, "<function=", ">", "</function>"):
        yield _xml_call(block, "<parameter=")


def _xml_call(block: Block, opening: str) -> WrittenCall:
    parameters = blocks(block.text, opening, ">", "</parameter>")
    arguments = {_unquoted(each.label): RawText(each.text.strip()) for each in parameters}
    return WrittenCall(_unquoted(block.label), arguments)


def _fenced(text: str) -> Iterator[WrittenCall]:
    for block in fenced_blocks(text):
        yield from calls_of(_json(block.text))


def _raw(text: str) -> Iterator[WrittenCall]:
    yield from calls_of(_json(text))


def _unquoted(label: str) -> str:
    return label.strip().strip("\"'")


def _json(text: str) -> Any:
    try:
        return strict_loads(text)
    except (ValueError, RecursionError):
        return None
