"""Fenced blocks: those of a reading line by line, at the cost of the lines with fences."""

import sys
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.graders import texts as fences
from app.graders.texts import MAX_FENCES, fenced_blocks
from tests.support.cases import cases
from tests.support.grading.scores import scored

PIECES = ("```", "~~~", "````", "\n", "\n", " ", "    ", "\t", "\r\n", "python", "a b", "\x0b", "`")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


def line_by_line(text: str) -> list[tuple[str, str]]:
    """Returns label and text of each block, also of one without an end."""
    found, opened, lines = list[tuple[str, str]](), None, list[str]()
    for line in text.split("\n"):
        if opened is None:
            opened = fences._opened(line, 0)
            lines = []
            continue
        last = opened.last_code(line)
        lines += [line] if last is None else [last[:-1]] if last else []
        if last is not None:
            found.append((opened.label, _dedented(lines, opened.indent)))
            opened = None
    return found if opened is None else [*found, (opened.label, _dedented(lines, opened.indent))]


def _dedented(lines: list[str], indent: int) -> str:
    def dedented(line: str) -> str:
        blanks = len(line) - len(line.lstrip(" \t"))
        return line[min(blanks, indent) :]

    return "".join(f"{dedented(line)}\n" for line in lines)


@given(text=TEXTS)
def test_blocks_are_those_of_a_reading_line_by_line(text: str) -> None:
    blocks = [(block.label, block.text) for block in fenced_blocks(text, with_open=True)]
    assert blocks == line_by_line(text)
    closed = fenced_blocks(text)
    assert blocks[: len(closed)] == [(block.label, block.text) for block in closed]


def test_only_lines_with_fences_are_looked_at() -> None:
    calls = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename == fences.__file__

    text = "a\n" * 10_000 + "```python\n" + "b\n" * 10_000 + "```\n" + "c\n" * 10_000
    sys.setprofile(note)
    try:
        (block,) = fenced_blocks(text)
    finally:
        sys.setprofile(None)
    assert block.text == "b\n" * 10_000
    assert calls < 20


@cases(
    ("grader", "flag"),
    [
        ({"type": "code_execution", "tests": '[{"stdin": "", "stdout": ""}]'}, True),
        ({"type": "json_valid", "fenced": True}, False),
        ({"type": "tool_call", "reference": '{"name": "f", "arguments": {}}'}, False),
    ],
)
async def test_an_answer_of_too_many_fences_scores_0(grader: dict[str, Any], flag: bool) -> None:
    result = await scored(grader, "```\n" * (MAX_FENCES + 1))
    assert (result.score, bool(result.errors.raised)) == (0.0, flag)
    assert not flag or "more than 10000 fences" in str(result.errors.details)
