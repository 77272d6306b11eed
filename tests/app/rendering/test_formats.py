"""Tables of turns for each tool-call format, whole and streamed, and for each kind of reasoning."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.models.tool_parsers import ToolParser
from app.rendering.formats.build import build_tool_format
from app.rendering.formats.reasoning import GEMMA4, GRANITE, HARMONY, MISTRAL, THINK, Reasoning

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "f",
            "parameters": {
                "type": "object",
                "properties": {
                    "s": {"type": "string"},
                    "n": {"type": "integer"},
                    "b": {"type": "boolean"},
                    "o": {"anyOf": [{"type": "object"}, {"type": "null"}]},
                },
            },
        },
    }
]
QUOTE = '<|"|>'
DS = ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>")

READ: list[tuple[ToolParser, str, str, list[dict[str, Any]]]] = [
    (
        "hermes",
        'Hm. <tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call>',
        "Hm.",
        [{"n": 1}],
    ),
    (
        "qwen3_coder",
        (
            "Hm.\n<tool_call>\n<function=f>\n<parameter=s>\n12\n</parameter>\n<parameter=n>\n12\n"
            "</parameter>\n<parameter=b>\nTrue\n</parameter>\n<parameter=o>\nNone\n</parameter>\n"
            "</function>\n</tool_call>"
        ),
        "Hm.",
        [{"s": "12", "n": 12, "b": True, "o": None}],
    ),
    (
        "qwen3_xml",
        (
            "<tool_call>\n<function=f>\n<parameter=s>\nline </parameter> one\ntwo\n</parameter>\n"
            '<parameter=o>\n{"a": [1]}\n</parameter>\n</function>\n</tool_call>\n'
            "<tool_call>\n<function=f>\n</function>\n</tool_call>"
        ),
        "",
        [{"s": "line </parameter> one\ntwo", "o": {"a": [1]}}, {}],
    ),
    (
        "qwen3_coder",
        "<tool_call><function=f><parameter=n>x</parameter></function></tool_call>",
        "",
        [{"n": "x"}],
    ),
    ("llama3_json", '{"name": "f", "parameters": {"n": 1}}', "", [{"n": 1}]),
    (
        "llama4_json",
        '<|python_tag|>{"name": "f", "parameters": {}}; {"name": "f", "arguments": {"s": ";"}}',
        "",
        [{}, {"s": ";"}],
    ),
    ("llama3_json", '{"type": "function", "name": "f", "parameters": {}}', "", [{}]),
    (
        "mistral",
        '[TOOL_CALLS] [{"name": "f", "arguments": {"n": 1}, "id": "abcdefghi"}]',
        "",
        [{"n": 1}],
    ),
    (
        "mistral",
        'Hm.[TOOL_CALLS]f[ARGS]{"n": 1}[TOOL_CALLS]f[CALL_ID]x1[ARGS]{}',
        "Hm.",
        [{"n": 1}, {}],
    ),
    ("mistral", '[TOOL_CALLS]f{"s": "a"}', "", [{"s": "a"}]),
    (
        "functiongemma",
        "<start_function_call>call:f{s:<escape>a, {b}<escape>,n:3}<end_function_call>",
        "",
        [{"s": "a, {b}", "n": 3}],
    ),
    (
        "gemma4",
        (
            f"Hm.<|tool_call>call:f{{o:{{x:[1,{QUOTE}y{QUOTE}]}},b:false}}<tool_call|>"
            "<|tool_call>call:f{}<tool_call|>"
        ),
        "Hm.",
        [{"o": {"x": [1, "y"]}, "b": False}, {}],
    ),
    (
        "glm45",
        (
            "Hm.\n<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>12</arg_value>\n<arg_key>n</arg_key>\n"
            "<arg_value>12</arg_value>\n</tool_call>"
        ),
        "Hm.",
        [{"s": "12", "n": 12}],
    ),
    (
        "glm47",
        "<tool_call>f<arg_key>new</arg_key><arg_value>[1]</arg_value></tool_call>",
        "",
        [{"new": [1]}],
    ),
    (
        "deepseek_v3",
        f'Hm.{DS[0]}function<｜tool▁sep｜>f\n```json\n{{"n": 1}}\n```{DS[1]}',
        "Hm.",
        [{"n": 1}],
    ),
    ("deepseek_v31", f'{DS[0]}f<｜tool▁sep｜>{{"n": 1}}{DS[1]}', "", [{"n": 1}]),
    (
        "openai",
        'Hm.<|start|>assistant<|channel|>commentary to=functions.f<|message|>{"n": 1}<|call|>',
        "Hm.",
        [{"n": 1}],
    ),
    (
        "pythonic",
        '[f(s="a]", n=-1, o={"x": None}), f(b=True)]',
        "",
        [{"s": "a]", "n": -1, "o": {"x": None}}, {"b": True}],
    ),
    (
        "olmo3",
        "Hm.\n<function_calls>\nf(s='a', b=true)\nf()\n</function_calls>",
        "Hm.",
        [{"s": "a", "b": True}, {}],
    ),
    ("granite", '<|tool_call|>[{"name": "f", "arguments": {"n": 1}}]', "", [{"n": 1}]),
    ("phi4_mini_json", 'functools[{"name": "f", "arguments": {}}]', "", [{}]),
    ("phi4_mini_json", '<|tool_call|>[{"name": "f", "arguments": {}}]<|/tool_call|>', "", [{}]),
]

BROKEN: list[tuple[ToolParser, str, str]] = [
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=s>\na", "closed by </tool_call>"),
    ("qwen3_coder", "<tool_call><function=f>x</function></tool_call>", "outside of <parameter="),
    ("llama3_json", '{"name": "f", "parameters": [1]}', "not a JSON object"),
    ("llama3_json", '{"name": "f", "parameters": {}} and more', "text after its JSON object"),
    ("llama3_json", '<|python_tag|>print("x")', "not valid JSON"),
    ("mistral", '[TOOL_CALLS] [{"name": "f"', "not valid JSON"),
    ("mistral", "[TOOL_CALLS]", "neither a JSON list of calls nor a name"),
    ("functiongemma", "<start_function_call>call:f{s:<escape>a", "not closed by <escape>"),
    ("gemma4", "<|tool_call>call:f{n:3}", "does not end with <tool_call|>"),
    ("gemma4", "<|tool_call>call:f" + "{a:" * 300, "nested too deeply"),
    ("glm45", "<tool_call>f\n<arg_key>s</arg_key>", "not a name with <arg_key>"),
    (
        "deepseek_v3",
        f"{DS[0]}function<｜tool▁sep｜>f\n```json\n{{",
        "closed by <｜tool▁call▁end｜>",
    ),
    ("deepseek_v31", f"{DS[0]}f<｜tool▁sep｜>nope{DS[1]}", "not valid JSON"),
    ("openai", "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{", "<|call|>"),
    ("pythonic", "[f(1)]", "must have names"),
    ("pythonic", "[f(x=__import__('os'))]", "not a literal"),
    ("pythonic", "[f(x=1e999)]", "cannot be written as JSON"),
    ("pythonic", "[f(", "not a list of Python calls"),
    ("olmo3", "<function_calls>\nf()", "does not end with </function_calls>"),
    ("granite", "<|tool_call|>{}", "not a JSON list of calls"),
    ("phi4_mini_json", 'functools[{"arguments": {}}]', 'an object with a "name"'),
]

ANSWERS: list[tuple[ToolParser, str]] = [
    ("llama3_json", '{"answer": 42}'),
    ("llama3_json", 'It is {"name": "f"}.'),
    ("pythonic", "[1, 2]"),
    ("pythonic", "[see](here)"),
    ("qwen3_coder", "It is <function=f>."),
]


@pytest.mark.parametrize(("name", "text", "content", "arguments"), READ)
def test_calls_are_read(
    name: ToolParser, text: str, content: str, arguments: list[dict[str, Any]]
) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.parse_error) == (content, None)
    assert [call.name for call in parsed.tool_calls] == ["f"] * len(arguments)
    assert [json.loads(call.arguments_json) for call in parsed.tool_calls] == arguments


@pytest.mark.parametrize(("name", "text", "fault"), BROKEN)
def test_a_broken_call_is_content_with_a_sentence(name: ToolParser, text: str, fault: str) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.tool_calls) == (text.strip(), [])
    assert parsed.parse_error is not None
    assert parsed.parse_error.startswith("Error: the tool call could not be parsed: ")
    assert fault in parsed.parse_error


@pytest.mark.parametrize(("name", "text"), ANSWERS)
def test_an_answer_that_looks_like_a_call_is_content(name: ToolParser, text: str) -> None:
    parsed = build_tool_format(name).parse(text, TOOLS)
    assert (parsed.content, parsed.tool_calls, parsed.parse_error) == (text, [], None)


def test_every_name_has_its_format_and_its_table() -> None:
    names = set(get_args(ToolParser))
    assert {build_tool_format(name).name for name in names} == names
    assert {row[0] for row in READ} == names


@pytest.mark.parametrize(("name", "text"), [row[:2] for row in (*READ, *BROKEN, *ANSWERS)])
def test_streamed_content_is_a_prefix_of_the_whole_content(name: ToolParser, text: str) -> None:
    tool_format = build_tool_format(name)
    content = tool_format.parse(text, TOOLS).content
    sent = [
        text[:end][: tool_format.final_length(text[:end])].strip() for end in range(len(text) + 1)
    ]
    assert [part for part in sent if not content.startswith(part)] == []
    if name not in ("llama3_json", "llama4_json", "pythonic"):
        assert sent[-1] == "" or sent[-1] in content


@settings(max_examples=300, deadline=None)
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


HARMONY_TURN = (
    "<|channel|>analysis<|message|>look it up<|end|><|start|>assistant<|channel|>final<|message|>42"
)
THOUGHTS: list[tuple[Reasoning, str, bool, str, str]] = [
    (THINK, "<think>\nhm\n</think>\n\n42", False, "hm", "42"),
    (THINK, "hm\n</think>42", True, "hm", "42"),
    (THINK, "hm", True, "hm", ""),
    (THINK, "hm</think>42", False, "", "hm</think>42"),
    (MISTRAL, "[THINK]hm[/THINK]42", False, "hm", "42"),
    (GEMMA4, "<|channel>thought\nhm\n<channel|>42", False, "hm", "42"),
    (GRANITE, "Here is my thought process: hm Here is my response: 42", False, "hm", "42"),
    (HARMONY, HARMONY_TURN + "<|return|>", False, "look it up", "42"),
    (HARMONY, "42", False, "", "42"),
    (HARMONY, "<|channel|>analysis<|message|>look", False, "look", ""),
]


@pytest.mark.parametrize(("reasoning", "text", "opened", "thought", "answer"), THOUGHTS)
def test_reasoning_is_split_from_the_answer(
    reasoning: Reasoning, text: str, opened: bool, thought: str, answer: str
) -> None:
    split = reasoning.split(text, opened=opened)
    assert (split.reasoning, split.answer.strip()) == (thought, answer)
