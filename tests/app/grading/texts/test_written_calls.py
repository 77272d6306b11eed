"""Calls whose strings hold the mark that closes a call, and texts of many blocks."""

import pytest

from app.graders import calls
from app.graders.calls import WrittenCall, read_calls
from tests.support.cases import cases


@cases(
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


@pytest.mark.parametrize(
    "block", ["```\n```\n", "```\n{\n```\n", "~~~\n[]}\n~~~\n", "<tool>{</tool>"]
)
def test_blocks_without_an_object_are_not_parsed(
    block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = list[str]()
    monkeypatch.setattr(calls, "strict_loads", parsed.append)
    assert read_calls(block * 1_000) == []
    # The whole text is read as JSON too, where it may be some.
    assert len(parsed) <= 1
