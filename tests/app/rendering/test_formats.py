"""Tables of turns for each tool-call format, whole and streamed, and for each kind of reasoning."""

import json
import re
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from app.models.models import ToolParser
from app.rollouts.marked_formats import Reasoning, build_tool_format
from tests.support.cases import cases
from tests.support.costs.growth import growth
from tests.support.rendering.format_cases import ANSWERS, BROKEN, MARKED, READ, THOUGHTS, TOOLS


@cases(("name", "text", "content", "arguments"), READ)
def test_calls_are_read(
    name: ToolParser, text: str, content: str, arguments: list[dict[str, Any]]
) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.parse_error) == (content, None)
    assert [call.name for call in parsed.tool_calls] == ["f"] * len(arguments)
    assert [json.loads(call.arguments_json) for call in parsed.tool_calls] == arguments


@cases(("name", "text", "fault"), BROKEN)
def test_a_broken_call_is_content_with_a_sentence(name: ToolParser, text: str, fault: str) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.tool_calls) == (text.strip(), [])
    assert parsed.parse_error is not None
    assert parsed.parse_error.startswith("Error: the tool call could not be parsed: ")
    assert fault in parsed.parse_error


@cases(("name", "text"), ANSWERS)
def test_an_answer_that_looks_like_a_call_is_content(name: ToolParser, text: str) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.tool_calls, parsed.parse_error) == (text, [], None)


def test_a_name_of_a_thousand_parts_is_a_broken_call() -> None:
    parsed = build_tool_format("pythonic").parse("[f" + ".a" * 900 + "(x=1)]", TOOLS)
    assert "nested too deeply" in str(parsed.parse_error)


def test_every_name_has_its_format_and_its_table() -> None:
    names = set(get_args(ToolParser))
    assert {build_tool_format(name).name for name in names} == names
    assert {row[0] for row in READ} == names


@cases(("name", "text"), [row[:2] for row in (*READ, *MARKED, *BROKEN, *ANSWERS)])
def test_streamed_content_is_a_prefix_of_the_whole_content(name: ToolParser, text: str) -> None:
    tool_format = build_tool_format(name)
    content = tool_format.parse(text, TOOLS).content
    sent = [
        text[:end][: tool_format.final_length(text[:end])].strip() for end in range(len(text) + 1)
    ]
    assert [part for part in sent if not content.startswith(part)] == []
    if name not in ("llama3_json", "llama4_json", "pythonic"):
        assert sent[-1] == "" or sent[-1] in content


def _repeated(name: ToolParser) -> set[str]:
    """Returns beginnings of turns, each cut behind a mark, and the marks themselves."""
    marks = build_tool_format(name).marks
    cuts = {
        text[: match.end()]
        for text in (str(row[1]) for row in (*READ, *MARKED) if row[0] == name)
        for mark in (*marks, '"', "=", ">", "(", ",")
        for match in re.finditer(re.escape(mark), text)
    }
    return {*cuts, *marks, '{"name": "f", "parameters": {}};'}


@cases("name", get_args(ToolParser))
def test_time_grows_with_the_text_of_a_turn(name: ToolParser) -> None:
    """Eight times as long is 64 times the work where each call that does not end is read anew."""
    tool_format = build_tool_format(name)

    def parse(text: str) -> None:
        tool_format.parse(text, TOOLS)

    for unit in sorted(_repeated(name)):
        turns = {times: unit * (times * 2_000 // len(unit)) for times in (1, 8)}
        assert growth(parse, small=turns[1], large=turns[8]) < 30, unit


@cases(("name", "text", "arguments"), MARKED)
def test_values_may_hold_marks(
    name: ToolParser, text: str, arguments: list[dict[str, Any]]
) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.parse_error) == ("", None)
    assert [json.loads(call.arguments_json) for call in parsed.tool_calls] == arguments


@given(data=st.data())
def test_no_text_raises(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(get_args(ToolParser)))
    pieces = st.sampled_from(
        [*(row[1] for row in READ if row[0] == name), *build_tool_format(name).marks]
    )
    text = "".join(data.draw(st.lists(st.text(max_size=5) | pieces, max_size=5)))
    cut = text[: data.draw(st.integers(0, len(text)))]
    for call in build_tool_format(name).parse(cut, TOOLS).tool_calls:
        assert isinstance(json.loads(call.arguments_json), dict)
    assert 0 <= build_tool_format(name).final_length(cut) <= len(cut)


@cases(("reasoning", "text", "opened", "thought", "answer"), THOUGHTS)
def test_reasoning_is_split_from_the_answer(
    reasoning: Reasoning, text: str, opened: bool, thought: str, answer: str
) -> None:
    split = reasoning.split(text, opened=opened)
    assert (split.reasoning, split.answer.strip()) == (thought, answer)
