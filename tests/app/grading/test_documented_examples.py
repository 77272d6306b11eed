"""The page of graders: each example gives the reward that it states."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.domain.graders.graders import GRADER_TYPES
from app.gateways.inference.judges import InMemoryJudges, JudgeReply
from tests.support.grading import scored
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
    judges = InMemoryJudges(lambda _: JudgeReply(json.dumps(example.get("judge"))))
    result = await scored(
        example["grader"],
        example["model_sample"],
        item=example.get("item"),
        sample=example.get("sample"),
        judges=judges,
        sandbox=sandbox.client,
    )
    assert result.score == pytest.approx(example["reward"], abs=5e-4)
    assert result.errors.raised == ()


def test_every_type_has_an_example() -> None:
    shown = {example["grader"]["type"] for example in examples()}
    assert shown == set(GRADER_TYPES) - CALLS_OUT
