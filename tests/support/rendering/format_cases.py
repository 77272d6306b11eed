"""Tables of turns in every tool-call format and with every kind of reasoning: what our parsers read
in them. `tests/workers/engines/test_vllm_parsers.py` reads the same turns with vLLM's own.
"""

from typing import Any

from app.models.models import ToolParser
from app.rollouts.marked_formats import GEMMA4, GRANITE, HARMONY, MISTRAL, THINK, Reasoning

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
        "hermes",
        (
            '<tool_call>\n{"name": "f", "arguments": {"s": "é \\"{x}\\"", "o": {"a": [1, {}]}}}\n'
            '</tool_call>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
        ),
        "",
        [{"s": 'é "{x}"', "o": {"a": [1, {}]}}, {}],
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

_CALL = "<|start|>assistant<|channel|>commentary to=functions.f<|message|>"

MARKED: list[tuple[ToolParser, str, list[dict[str, Any]]]] = [
    (
        "hermes",
        (
            '<tool_call>{"name": "f", "arguments": {"s": "</tool_call>"}}</tool_call>\n'
            '<tool_call>\n{"name": "f", "arguments": {"s": "\\"<tool_call>"}}\n</tool_call>'
        ),
        [{"s": "</tool_call>"}, {"s": '"<tool_call>'}],
    ),
    (
        "glm45",
        "<tool_call>f<arg_key>s</arg_key><arg_value>a</arg_value>b</arg_value></tool_call>",
        [{"s": "a</arg_value>b"}],
    ),
    (
        "qwen3_coder",
        "<tool_call><function=f><parameter=s>\n<tool_call>\n\n</parameter>\n</function></tool_call>",
        [{"s": "<tool_call>\n"}],
    ),
    (
        "llama3_json",
        '{"name": "f", "parameters": {"s": "}; {\\"name\\": 1}"}}; {"name": "f", "parameters": {}}',
        [{"s": '}; {"name": 1}'}, {}],
    ),
    (
        "mistral",
        '[TOOL_CALLS]f[ARGS]{"s": "[TOOL_CALLS]f{}"}[TOOL_CALLS]f{"s": "[TOOL_CALLS]"}',
        [{"s": "[TOOL_CALLS]f{}"}, {"s": "[TOOL_CALLS]"}],
    ),
    (
        "mistral",
        '[TOOL_CALLS] [{"name": "f", "arguments": {"s": "]"}}, {"name": "f", "arguments": {}}]',
        [{"s": "]"}, {}],
    ),
    (
        "deepseek_v3",
        (
            f"{DS[0]}function<｜tool▁sep｜>f\n```json\n"
            f'{{"s": "\\n```<｜tool▁call▁end｜>"}}\n```{DS[1]}'
        ),
        [{"s": "\n```<｜tool▁call▁end｜>"}],
    ),
    (
        "deepseek_v31",
        f'{DS[0]}f<｜tool▁sep｜>{{"s": "<｜tool▁sep｜>"}}{DS[1]}',
        [{"s": "<｜tool▁sep｜>"}],
    ),
    (
        "deepseek_v31",
        f'{DS[0]}f<｜tool▁sep｜>{{"s": "<｜tool▁call▁end｜>"}}{DS[1]}',
        [{"s": "<｜tool▁call▁end｜>"}],
    ),
    (
        "openai",
        (
            f'{_CALL}{{"s": "\\"<|call|><|start|>assistant<|channel|>final<|message|>x"}}<|call|>'
            f'{_CALL}{{"s": "<|start|>"}}<|call|>'
        ),
        [{"s": '"<|call|><|start|>assistant<|channel|>final<|message|>x'}, {"s": "<|start|>"}],
    ),
    (
        "granite",
        '<|tool_call|>[{"name": "f", "arguments": {"s": "<|tool_call|>]"}}]',
        [{"s": "<|tool_call|>]"}],
    ),
    (
        "phi4_mini_json",
        '<|tool_call|>[{"name": "f", "arguments": {"s": "<|/tool_call|>"}}]<|/tool_call|>',
        [{"s": "<|/tool_call|>"}],
    ),
]
"""Turns of calls alone, whose values hold marks of the format."""

BROKEN: list[tuple[ToolParser, str, str]] = [
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": 1}}', "does not end with </tool_call>"),
    ("hermes", '<tool_call>{"name": "f", "argum</tool_call>', "not valid JSON"),
    ("hermes", '<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "not a JSON object"),
    ("hermes", "It is 4.</tool_call>", "without <tool_call>"),
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
