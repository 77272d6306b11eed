from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from labs.base_models.network import TEMPLATE
from labs.base_models.pretrain import Recipe, build_tokenizer
from labs.base_models.transcript_tokens import IGNORED, encode
from labs.base_models.vocabulary import TOOLS
from tests.support.models.base_models import SHIPPED


def call(n: int, name: str, arguments: Any) -> dict[str, Any]:
    return {
        "id": f"call_{n}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


CONVERSATION: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "What is the price of parts P017 and P233 together?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            call(1, "lookup", '{"record": "P017", "field": "price"}'),
            call(2, "lookup", {"record": "P233", "field": "price"}),
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "12"},
    {"role": "tool", "tool_call_id": "call_2", "content": "30"},
    {
        "role": "assistant",
        "content": "<think>\nNow add.\n</think>",
        "tool_calls": [call(3, "calculator", '{"expression": "12 + 30"}')],
    },
    {"role": "tool", "tool_call_id": "call_3", "content": [{"type": "text", "text": "42"}]},
    {"role": "assistant", "content": "42"},
    {"role": "user", "content": "Thanks."},
]


def render(tokenizer: PreTrainedTokenizerFast, count: int, *, prompt: bool = False) -> str:
    return str(
        tokenizer.apply_chat_template(
            CONVERSATION[:count], tools=[*TOOLS], tokenize=False, add_generation_prompt=prompt
        )
    )


def test_the_whole_conversation_renders_in_one_fixed_form(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    assert render(tokenizer, 9) == (
        "<|im_start|>system\nTools:\n"
        '{"name": "lookup", "arguments": {"record": "string", "field": "string"}} '
        "Read one field of a record.\n"
        '{"name": "calculator", "arguments": {"expression": "string"}} '
        "Evaluate an arithmetic expression.<|im_end|>\n"
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nWhat is the price of parts P017 and P233 together?<|im_end|>\n"
        "<|im_start|>assistant\n"
        '<tool_call>\n{"name": "lookup", "arguments": {"record": "P017", "field": "price"}}\n'
        "</tool_call>\n"
        '<tool_call>\n{"name": "lookup", "arguments": {"record": "P233", "field": "price"}}\n'
        "</tool_call><|im_end|>\n"
        "<|im_start|>tool\n12<|im_end|>\n"
        "<|im_start|>tool\n30<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nNow add.\n</think>\n"
        '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12 + 30"}}\n'
        "</tool_call><|im_end|>\n"
        "<|im_start|>tool\n42<|im_end|>\n"
        "<|im_start|>assistant\n42<|im_end|>\n"
        "<|im_start|>user\nThanks.<|im_end|>\n"
    )


def test_every_prompt_extends_the_turns_before_it(tokenizer: PreTrainedTokenizerFast) -> None:
    whole = render(tokenizer, len(CONVERSATION))
    whole_ids = tokenizer.encode(whole)
    for count in range(1, len(CONVERSATION)):
        part = render(tokenizer, count)
        assert whole.startswith(part)
        ids = tokenizer.encode(part)
        assert whole_ids[: len(ids)] == ids
        if CONVERSATION[count]["role"] == "assistant":
            prompt = render(tokenizer, count, prompt=True)
            assert whole.startswith(prompt)
            ids = tokenizer.encode(prompt)
            assert whole_ids[: len(ids)] == ids


def test_the_tools_come_from_the_row(tokenizer: PreTrainedTokenizerFast) -> None:
    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": ["integer", "null"]}},
    }
    tools: list[Any] = [
        {"type": "function", "function": {"name": "search", "parameters": parameters}},
        {"type": "function", "function": {"name": "now", "description": "The time."}},
    ]
    text = tokenizer.apply_chat_template(CONVERSATION[:1], tools=tools, tokenize=False)
    assert str(text).startswith(
        "<|im_start|>system\nTools:\n"
        '{"name": "search", "arguments": {"query": "string", "limit": "any"}}\n'
        '{"name": "now", "arguments": {}} The time.<|im_end|>\n'
    )
    bare = tokenizer.apply_chat_template(CONVERSATION[:1], tokenize=False)
    assert bare == "<|im_start|>system\nBe brief.<|im_end|>\n"


@given(st.text())
def test_any_text_round_trips(text: str) -> None:
    tokenizer = PreTrainedTokenizerFast.from_pretrained(SHIPPED)
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert tokenizer.decode(ids) == text


def test_the_script_makes_the_shipped_tokenizer() -> None:
    made = json.loads(build_tokenizer(Recipe()).backend_tokenizer.to_str())
    shipped = json.loads((SHIPPED / "tokenizer.json").read_text(encoding="utf-8"))
    assert made["model"] == shipped["model"]
    assert made["added_tokens"] == shipped["added_tokens"]
    assert TEMPLATE.read_text(encoding="utf-8") == (SHIPPED / "chat_template.jinja").read_text(
        encoding="utf-8"
    )


def test_labels_are_the_assistants_own_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    text = render(tokenizer, 9)
    row = encode(tokenizer, text)
    assert row.ids == tokenizer.encode(text)
    assert all(label in {IGNORED, i} for label, i in zip(row.labels, row.ids, strict=True))
    spoken = [i for i in row.labels if i != IGNORED]
    assert tokenizer.decode(spoken) == (
        '<tool_call>\n{"name": "lookup", "arguments": {"record": "P017", "field": "price"}}\n'
        "</tool_call>\n"
        '<tool_call>\n{"name": "lookup", "arguments": {"record": "P233", "field": "price"}}\n'
        "</tool_call><|im_end|><think>\nNow add.\n</think>\n"
        '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12 + 30"}}\n'
        "</tool_call><|im_end|>42<|im_end|>"
    )
