from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from examples.records_agent.tools import SCHEMAS, call_tool
from labs.base_models.vocabulary import BAD_EXPRESSION, KINDS, TOOLS, UNKNOWN_RECORD, draw_question

pytestmark = pytest.mark.long

CATALOGUE = build_catalogue()


def shape(text: str) -> str:
    """The sentence with its identifiers and numbers blanked."""
    return re.sub(r"\d", "0", text)


def taught_shapes() -> set[str]:
    rng = random.Random(0)
    return {shape(draw_question(rng, kind).text) for kind in KINDS for _ in range(1500)}


def test_the_example_uses_words_the_model_was_taught() -> None:
    taught = taught_shapes()
    for split in ("train", "validation"):
        for row in make_rows(CATALOGUE, split, 400, seed=9):
            assert shape(row["messages"][-1]["content"]) in taught


def test_the_examples_tools_and_errors_are_those_taught() -> None:
    def reply(name: str, **arguments: Any) -> str:
        return call_tool(CATALOGUE, name, json.dumps(arguments))

    assert SCHEMAS == TOOLS
    missing = reply("lookup", record="47", field="price")
    assert missing == UNKNOWN_RECORD.format(record="47")
    assert reply("calculator", expression="P123") == BAD_EXPRESSION


def test_the_examples_answers_cannot_be_memorised() -> None:
    """One question has many answers over the corpus, since its records are drawn anew."""
    answers: dict[str, set[str]] = {}
    rng = random.Random(1)
    for _ in range(60_000):
        question = draw_question(rng, "one_hop")
        answers.setdefault(question.text, set()).add(question.answer)
    asked_often = [found for found in answers.values() if len(found) > 1]
    assert len(asked_often) > 1000
    city = [found for text, found in answers.items() if "city of supplier S52" in text]
    assert city
    assert all(len(found) > 4 for found in city)
