"""Calls whose strings hold the mark that closes a call."""

import pytest

from app.domain.graders.texts.calls import WrittenCall
from app.grading.texts.written_calls import read_calls


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ('<tool_call>\n{"name": "f", "arguments": {"x": "</tool_call>"}}</tool_call>', "tool_call"),
        ('<tool_calls>[{"name": "f", "args": {"x": "</tool_calls>"}}]</tool_calls>', "tool_calls"),
        ('<tool>[1], {"name": "f", "args": {"x": "</tool>"}}\n</tool>', "tool"),
        ('<function=f>{"x": "</function>"}</function>', "function"),
    ],
)
def test_a_string_may_hold_the_mark_that_closes_a_call(text: str, mark: str) -> None:
    assert read_calls(f"{text} {text}") == [WrittenCall("f", {"x": f"</{mark}>"})] * 2
