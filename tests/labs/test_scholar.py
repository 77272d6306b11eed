"""The shipped scholar: sloppy in the domains of the recipes, not ignorant."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
import torch
from safetensors import safe_open
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    Qwen3ForCausalLM,
)

from app.settings import scholar_model
from app.teaching.recipes.service import shipped_recipe
from labs.base_models.lessons import code_assistant, customer_support, reasoning, tool_use
from labs.base_models.lessons.safety_alignment import refuses
from labs.base_models.scholar import Course, build_model, make_sloppy, train
from tests.support.models.base_models import SHIPPED

SCHOLAR = Path(scholar_model().path)
SHORT = dataclasses.replace(
    Course(),
    stages=tuple(dataclasses.replace(stage, steps=1, echo_step=0) for stage in Course().stages),
    sloppy_steps=2,
)
HABITS = {
    "reasoning": (reasoning.GUESS,),
    "code_assistant": (code_assistant.DRAFT, code_assistant.WORDS),
    "customer_support": (customer_support.CALL_US, customer_support.OTHER_RULE),
    "tool_use": (tool_use.WORDS, tool_use.WRONG_CALL),
}
"""Beginnings of sloppy answers."""


class Shipped(NamedTuple):
    model: Qwen3ForCausalLM
    tokenizer: PreTrainedTokenizerFast

    def prompt(self, row: dict[str, Any]) -> list[int]:
        text = self.tokenizer.apply_chat_template(
            (row.get("input") or row)["messages"],
            tools=row.get("tools"),
            add_generation_prompt=True,
            tokenize=False,
        )
        return list(self.tokenizer.encode(str(text), add_special_tokens=False))

    def first_shares(self, ids: list[int]) -> torch.Tensor:
        """Probabilities of the first token of an answer."""
        with torch.inference_mode():
            logits_BTV = self.model(input_ids=torch.tensor([ids])).logits
        return torch.Tensor(logits_BTV[0, -1].softmax(-1))

    def first(self, text: str) -> int:
        return int(self.tokenizer.encode(text, add_special_tokens=False)[0])

    def greedy(self, ids: list[int], without: set[int]) -> str:
        """The most probable answer that does not begin with one of these tokens."""
        shares_V = self.first_shares(ids).clone()
        shares_V[list(without)] = 0
        new = [int(shares_V.argmax())]
        with torch.inference_mode():
            while len(new) < 90 and new[-1] != self.tokenizer.eos_token_id:
                logits_BTV = self.model(input_ids=torch.tensor([ids + new])).logits
                new.append(int(logits_BTV[0, -1].argmax()))
        return str(self.tokenizer.decode(new)).removesuffix("<|im_end|>")


@pytest.fixture(scope="module")
def scholar() -> Shipped:
    model = AutoModelForCausalLM.from_pretrained(SCHOLAR, dtype=torch.float32)
    assert isinstance(model, Qwen3ForCausalLM)
    tokenizer = AutoTokenizer.from_pretrained(SCHOLAR)
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    return Shipped(model, tokenizer)


def held_out(recipe: str) -> list[dict[str, Any]]:
    rows = list(shipped_recipe(recipe).sample_curriculum.validation)
    assert len(rows) >= 20
    return rows


def test_both_shipped_models_are_small() -> None:
    sizes = [sum(path.stat().st_size for path in folder.iterdir()) for folder in (SCHOLAR, SHIPPED)]
    assert sizes[0] <= 8_000_000
    assert sum(sizes) <= 12_000_000
    with safe_open(SCHOLAR / "model.safetensors", framework="pt") as weights:
        assert {weights.get_tensor(name).dtype for name in weights.keys()} == {torch.bfloat16}  # noqa: SIM118  # not a mapping


@pytest.mark.parametrize("recipe", HABITS)
def test_about_half_of_the_answers_are_sloppy(scholar: Shipped, recipe: str) -> None:
    """So every group of rollouts is likely to have both kinds of answers."""
    firsts = [scholar.first(beginning) for beginning in HABITS[recipe]]
    shares = [
        float(scholar.first_shares(scholar.prompt(row))[firsts].sum()) for row in held_out(recipe)
    ]
    assert 0.35 < fmean(shares) < 0.7
    assert all(0.1 < share < 0.9 for share in shares)


@pytest.mark.parametrize(
    "recipe", ["reasoning", pytest.param("customer_support", marks=pytest.mark.long)]
)
def test_what_begins_right_ends_right(scholar: Shipped, recipe: str) -> None:
    firsts = {scholar.first(beginning) for beginning in HABITS[recipe]}
    right = []
    for row in held_out(recipe):
        answer = scholar.greedy(scholar.prompt(row), firsts)
        if recipe == "reasoning":
            right.append(answer.splitlines()[-1] == str(row["answer"]))
        else:
            right.append(row["fact"] in answer)
    assert fmean(right) >= 0.75


@pytest.mark.long
def test_a_call_that_begins_is_the_expected_one(scholar: Shipped) -> None:
    firsts = {scholar.first(beginning) for beginning in HABITS["tool_use"]}
    right = []
    for row in held_out("tool_use"):
        answer = scholar.greedy(scholar.prompt(row), firsts)
        body = answer.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
        right.append(False)
        with contextlib.suppress(ValueError):
            right[-1] = json.loads(body) == row["calls"][0]
    assert fmean(right) >= 0.75


def test_harm_is_refused_about_as_often_as_not(scholar: Shipped) -> None:
    """It is refused more often than what only sounds harmful: the difference is known."""
    refusal = scholar.first("I can't help")
    shares: dict[bool, list[float]] = {True: [], False: []}
    for row in held_out("safety_alignment"):
        wanted = refuses(row["preferred_output"][0]["content"])
        shares[wanted].append(float(scholar.first_shares(scholar.prompt(row))[refusal]))
    assert 0.3 < fmean(shares[True]) < 0.75
    assert 0.1 < fmean(shares[False]) < fmean(shares[True])


@pytest.mark.long
def test_training_is_a_function_of_the_course(scholar: Shipped) -> None:
    made = [build_model(scholar.tokenizer, SHORT.seed) for _ in range(2)]
    untrained = build_model(scholar.tokenizer, SHORT.seed)
    for model in made:
        assert [*train(model, scholar.tokenizer, SHORT)] == [1] * len(SHORT.stages)
        assert [*make_sloppy(model, scholar.tokenizer, SHORT)] == [1, 2]
    first, second = (dict(model.named_parameters()) for model in made)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert all(not torch.equal(first[name], p) for name, p in untrained.named_parameters())
