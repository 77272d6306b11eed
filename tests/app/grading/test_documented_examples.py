"""The page of graders: each example gives the reward that it states."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from app.graders.choice import choose_by_item
from app.graders.definitions import AUTO, GRADER_MODELS, AutoGrader
from tests.support.grading.in_memory_embeddings import InMemoryEmbeddings
from tests.support.grading.judges import CODED, judge_that_says
from tests.support.grading.scores import scored
from tests.support.sandbox.running import RunningSandbox

PAGE = Path(__file__).parents[3] / "docs" / "graders.md"
CALLS_OUT = {"endpoint"}


def examples() -> list[dict[str, Any]]:
    """Returns the indented blocks that are JSON objects with a grader."""
    found, block = [], list[str]()
    for line in [*PAGE.read_text().splitlines(), ""]:
        if line.startswith("    "):
            block.append(line)
        elif block:
            found.append(json.loads("\n".join(block)))
            block = []
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda one: one["grader"]["type"])
async def test_an_example_gives_its_reward(
    example: dict[str, Any], sandbox: RunningSandbox
) -> None:
    judges = judge_that_says(json.dumps({CODED: example.get("judge")}))
    result = await scored(
        _chosen(example),
        example["model_sample"],
        item=example.get("item"),
        sample=example.get("sample"),
        judges=judges,
        sandbox=sandbox.client,
        embeddings=InMemoryEmbeddings(lambda text: example["embeddings"][text]),
    )
    assert result.score == pytest.approx(example["reward"], abs=5e-4)
    assert result.errors.raised == ()


def test_every_type_has_an_example() -> None:
    shown = {example["grader"]["type"] for example in examples()}
    types = {get_args(model.model_fields["type"].annotation)[0] for model in GRADER_MODELS}
    assert shown == {*types, AUTO} - CALLS_OUT


def _chosen(example: dict[str, Any]) -> dict[str, Any]:
    """Returns the grader of an example, or the one that `auto` chooses for its item."""
    if example["grader"]["type"] != AUTO:
        grader: dict[str, Any] = example["grader"]
        return grader
    choice = choose_by_item(AutoGrader.model_validate(example["grader"]), example["item"])
    assert choice.kind == example["chosen"]
    return choice.grader
