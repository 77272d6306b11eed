"""Reads tool calls that a model wrote as text, in common formats.

Owns these formats, which are tried in this order until one gives a call:
1. tags: `<tool_call>{…}</tool_call>`, `<function_call>{…}</function_call>`, `<tool>{…}</tool>`,
   also inside `<tool_calls>` and the plurals of the others; `<tool_calls>[…]</tool_calls>`;
2. XML: `<invoke name="f"><parameter name="a">…</parameter></invoke>`,
   `<function=f><parameter=a>…</parameter></function>`, and `<function=f>{…}</function>`;
3. Markdown: a fenced block of JSON;
4. raw: the whole text is JSON. Several calls are a JSON list, or values in a row (with a comma or
   semicolon between them or without). The last two formats have no mark of a call, so an entry
   counts only if it has a name, arguments, and no other key. Promises: time proportional to the
   text. Must not know the expected calls.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from app.domain.graders.texts.calls import (
    WrittenCall,
    arguments_of,
    call_of,
    is_plainly_a_call,
    values_of,
)
from app.domain.graders.texts.thinking import after_thinking
from app.grading.texts.fences import (
    Block,
    TooManyFences,
    blocks,
    check_fences,
    fenced_blocks,
)

MAX_CALLS: Final = 256
_TAGS: Final = ("tool_call", "function_call", "tool", "tool_calls", "function_calls")


class RawText(str):
    """The value of an XML parameter, whose type is unknown."""

    __slots__ = ()


def read_calls(text: str) -> list[WrittenCall]:
    """Returns the calls in a text, in its order. Reasoning that the text begins with is skipped."""
    text = after_thinking(text)
    for form in (_tagged, _xml, _fenced, _raw):
        calls = list(islice(form(text), MAX_CALLS))
        if calls:
            return calls
    return []


def calls_of(value: Any) -> list[WrittenCall]:
    """Returns the calls of a JSON value: one call or a list of them, in chat form too."""
    entries = value if isinstance(value, list) else [value]
    return [call for entry in entries[:MAX_CALLS] if (call := call_of(entry)) is not None]


def _tagged(text: str) -> Iterator[WrittenCall]:
    found = [
        block
        for tag in _TAGS
        for block in blocks(text, f"<{tag}", ">", f"</{tag}>", whole_word=True)
    ]
    for block in sorted(found, key=lambda one: one.start):
        for value in values_of(block.text):
            yield from calls_of(value)


def _xml(text: str) -> Iterator[WrittenCall]:
    for block in blocks(text, "<invoke name=", ">", "</invoke>"):
        yield _xml_call(block, "<parameter name=")
    for block in blocks(text, "<function=", ">", "</function>"):
        yield _xml_call(block, "<parameter=")


def _xml_call(block: Block, opening: str) -> WrittenCall:
    """Reads the parameters of a call, or JSON instead of them."""
    parameters = list(blocks(block.text, opening, ">", "</parameter>"))
    arguments = (
        {_unquoted(each.label): RawText(each.text.strip()) for each in parameters}
        if parameters
        else arguments_of(block.text)
    )
    return WrittenCall(_unquoted(block.label), arguments)


def _fenced(text: str) -> Iterator[WrittenCall]:
    try:
        check_fences(text)
    except TooManyFences:
        return
    for block in fenced_blocks(text):
        yield from _raw(block.text)


def _raw(text: str) -> Iterator[WrittenCall]:
    for value in values_of(text):
        yield from _plain_calls(value)


def _plain_calls(value: Any) -> list[WrittenCall]:
    entries = value if isinstance(value, list) else [value]
    return calls_of([entry for entry in entries if is_plainly_a_call(entry)])


def _unquoted(label: str) -> str:
    return label.strip().strip("\"'")
