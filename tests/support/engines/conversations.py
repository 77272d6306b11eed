"""Conversations that a model of tests is made to repeat, word for word."""

from pathlib import Path
from typing import Any

from openai import OpenAI

from tests.support.models.tiny_model import KEEPS_THINKING, save_parrot

CALL = {"id": "a", "type": "function"}
TOOL_TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "What is the weight of part P017?"},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {**CALL, "function": {"name": "lookup", "arguments": '{"record": "P017"}'}},
            {**CALL, "function": {"name": "lookup", "arguments": '{"record": "P233"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "42"},
    {"role": "tool", "tool_call_id": "b", "content": "43"},
    {"role": "assistant", "content": "The answer is 42."},
]
PLAIN: list[dict[str, Any]] = [
    {"role": "user", "content": "Work out 12 + 30."},
    {"role": "assistant", "content": "The answer is 42, I think."},
]
BROKEN: list[dict[str, Any]] = [
    {"role": "user", "content": "Break it."},
    {"role": "assistant", "content": 'Well <tool_call>{"name": "lookup"</tool_call>'},
]
_EFFORT_PROMPT = """\
{%- if reasoning_effort is defined -%}
<|im_start|>system
Effort {{ reasoning_effort -}}
{{ '' if enable_thinking | default(true) else ', no thought' }}<|im_end|>
{% endif -%}
"""
_REASONING_PROMPT = """\
{%- for m in messages if m.reasoning_content -%}
<|im_start|>reasoning
{{ m.reasoning_content }}<|im_end|>
{% endfor -%}
"""


def ask(client: OpenAI, messages: list[Any], **options: Any) -> Any:
    settings = {"temperature": 0, "max_completion_tokens": 100, **options}
    return client.chat.completions.create(model="parrot", messages=messages, **settings)


def chunks_of(client: OpenAI, messages: list[Any], **options: Any) -> list[Any]:
    return list(ask(client, messages, stream=True, **options))


def save_answering_parrot(root: Path) -> Path:
    """Saves a model that repeats the conversations. Returns its chat template, which shows the
    effort and the reasoning that it is given.
    """
    save_parrot(root, [TOOL_TURNS, PLAIN, BROKEN])
    template = root / "told.jinja"
    template.write_text(_EFFORT_PROMPT + _REASONING_PROMPT + KEEPS_THINKING)
    return template
