from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from labs.base_models.corpus import Mix, transcripts
from labs.base_models.network import TEMPLATE
from labs.base_models.pretrain import SLOPPY, Recipe, build_tokenizer
from labs.base_models.transcript_tokens import IGNORED, collate, encode
from labs.base_models.vocabulary import TOOLS
from tests.support.models.base_models import SHIPPED

PROMPT_TOKENS = 64
TRANSCRIPT_TOKENS = 400


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


def test_tool_marks_survive_decoding_and_turn_marks_do_not(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    ids = tokenizer.encode("<|im_start|><think></think><tool_call>1</tool_call><|im_end|>")
    assert len(ids) == 7
    shown = tokenizer.decode(ids, skip_special_tokens=True)
    assert shown == "<think></think><tool_call>1</tool_call>"
    assert tokenizer.eos_token == "<|im_end|>"
    assert ids[-1] == tokenizer.eos_token_id


def test_identifiers_and_numbers_are_spelled(tokenizer: PreTrainedTokenizerFast) -> None:
    def pieces(text: str) -> list[str]:
        return [str(tokenizer.decode([i])) for i in tokenizer.encode(text)]

    assert pieces("P017") == ["P", "0", "1", "7"]
    assert pieces('"S52"')[1:4] == ["S", "5", "2"]
    assert pieces("part P017?")[-5:] == ["P", "0", "1", "7", "?"]
    assert pieces("1786") == ["1", "7", "8", "6"]


def test_every_row_of_the_example_is_a_short_prompt(tokenizer: PreTrainedTokenizerFast) -> None:
    rows = make_rows(build_catalogue(), "train", 400, seed=0)
    lengths = [
        len(
            tokenizer.apply_chat_template(
                row["messages"], tools=row["tools"], add_generation_prompt=True, return_dict=False
            )
        )
        for row in rows
    ]
    assert max(lengths) <= PROMPT_TOKENS


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


def test_collate_pads_on_the_right(tokenizer: PreTrainedTokenizerFast) -> None:
    rows = [encode(tokenizer, render(tokenizer, n)) for n in (9, 2)]
    ids_BT, labels_BT = collate(rows, pad_id=0)
    assert ids_BT.shape == labels_BT.shape == (2, len(rows[0].ids))
    assert ids_BT[1].tolist() == rows[1].ids + [0] * (len(rows[0].ids) - len(rows[1].ids))
    assert set(labels_BT[1].tolist()) == {IGNORED}


def test_transcripts_of_the_corpus_are_short(tokenizer: PreTrainedTokenizerFast) -> None:
    source = transcripts(5, SLOPPY)
    lengths = []
    for _ in range(300):
        transcript = next(source)
        text = tokenizer.apply_chat_template(
            transcript.messages, tools=[*transcript.tools], tokenize=False
        )
        lengths.append(len(encode(tokenizer, str(text)).ids))
    assert max(lengths) <= TRANSCRIPT_TOKENS
    assert sum(lengths) / len(lengths) <= 150


def test_a_mix_of_nothing_sloppy_is_clean() -> None:
    source = transcripts(5, Mix(guess=0, wasteful=0, lost=0))
    for _ in range(200):
        messages = next(source).messages
        assert messages[-1]["content"] == messages[-2]["content"]
        assert not any(m["content"].startswith("Error") for m in messages)
