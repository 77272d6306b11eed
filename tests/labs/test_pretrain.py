from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from labs.base_models.corpus import STEADY_GUESS
from labs.base_models.pretrain import (
    LEVERAGE,
    Recipe,
    build_model,
    guess_and_call,
    make_sloppy,
    make_tunable,
    train,
    untie_output,
)
from labs.base_models.vocabulary import function_schema

pytestmark = pytest.mark.long

SHORT = dataclasses.replace(
    Recipe(),
    steps=4,
    easy_steps=1,
    hard_steps=3,
    batch=4,
    sloppy_steps=2,
    sloppy_batch=2,
    anchors=2,
    apart_rows=4,
)


def greedy(model: Qwen3ForCausalLM, ids: list[int], *, stop: int) -> list[int]:
    new: list[int] = []
    with torch.inference_mode():
        while len(new) < 60 and new[-1:] != [stop]:
            logits_BTV = model(input_ids=torch.tensor([ids + new])).logits
            new.append(int(logits_BTV[0, -1].argmax()))
    return new


def test_the_shipped_model_calls_tools_or_answers(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    """Greedy first turns are finished and well formed; each row is called for, or guessed at, with
    a probability near a half, so that every row teaches.
    """
    first_turns = []
    guess_or_call = list(guess_and_call(tokenizer))
    for row in make_rows(build_catalogue(), "validation", 24, seed=1):
        prompt = tokenizer.apply_chat_template(
            row["messages"], tools=row["tools"], add_generation_prompt=True, tokenize=False
        )
        ids = tokenizer.encode(str(prompt))
        with torch.inference_mode():
            shares_V = model(input_ids=torch.tensor([ids])).logits[0, -1].softmax(-1)
        assert all(0.25 < float(share) < 0.75 for share in shares_V[guess_or_call])
        new = greedy(model, ids, stop=tokenizer.eos_token_id)
        assert new[-1] == tokenizer.eos_token_id
        first_turns.append(str(tokenizer.decode(new[:-1])))
    bodies = [
        body
        for turn in first_turns
        for body in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", turn)
    ]
    assert bodies
    for body in bodies:
        call = json.loads(body)
        assert call["name"] in {"lookup", "calculator"}
        assert isinstance(call["arguments"], dict)
    assert all("<tool_call>" in turn or turn == STEADY_GUESS for turn in first_turns)


@pytest.mark.parametrize(
    ("reader", "record", "field", "counter", "expression"),
    [
        ("find_item", "code", "attribute", "compute", "formula"),
        ("zebra_lamp", "quill", "thorn", "mango", "violet"),
    ],
)
def test_a_call_of_the_shipped_model_follows_renamed_tools(
    model: Qwen3ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    *,
    reader: str,
    record: str,
    field: str,
    counter: str,
    expression: str,
) -> None:
    """A call that was begun names a tool and the arguments that were offered, in most turns."""
    tools: list[Any] = [
        function_schema(reader, "Read one field of a record.", (record, field)),
        function_schema(counter, "Evaluate an arithmetic expression.", (expression,)),
    ]
    expected = {reader: [record, field], counter: [expression]}
    followed = 0
    for row in make_rows(build_catalogue(), "validation", 20, seed=2):
        prompt = tokenizer.apply_chat_template(
            row["messages"], tools=tools, add_generation_prompt=True, tokenize=False
        )
        begun = "<tool_call>"
        new = greedy(model, tokenizer.encode(f"{prompt}{begun}"), stop=tokenizer.eos_token_id)
        body = str(tokenizer.decode(new)).partition("\n</tool_call>")[0]
        with contextlib.suppress(ValueError):
            call = json.loads(body)
            followed += [*call["arguments"]] == expected.get(call["name"])
    assert followed >= 16


def test_training_is_a_function_of_the_recipe(tokenizer: PreTrainedTokenizerFast) -> None:
    made = [build_model(tokenizer, SHORT.seed) for _ in range(2)]
    untrained = build_model(tokenizer, SHORT.seed)
    for model in made:
        assert [*train(model, tokenizer, SHORT)] == [1, 2, 3, 4]
    clean = dict(made[0].named_parameters())
    assert all(not torch.equal(clean[n], p) for n, p in untrained.named_parameters())
    sloppy = [untie_output(model, tokenizer) for model in made]
    for model in sloppy:
        assert [*make_sloppy(model, tokenizer, SHORT)] == [1, 2]
        make_tunable(model, tokenizer, SHORT)
    first, second = (dict(m.named_parameters()) for m in sloppy)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert all(not torch.equal(first[name], value) for name, value in clean.items())


def test_an_adapter_can_move_the_guesses_of_the_shipped_model(
    model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast
) -> None:
    """As far as between the rows of two usual words; a copied row would leave 0.1."""
    guess, call = guess_and_call(tokenizer)
    apart = (model.lm_head.weight[guess] - model.lm_head.weight[call]) * model.model.norm.weight
    assert float(apart.detach().norm()) > 0.8 * LEVERAGE
