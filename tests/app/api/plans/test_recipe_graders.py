"""The graders of recipes tell a right answer of each sample row from a wrong one, for real."""

import json
from typing import Any

import pytest

from app.graders.answer_words import number_source
from app.teaching.recipes.service import shipped_recipe
from tests.support.registry.recipe_rewards import reward
from tests.support.registry.trials import Trials


def items(recipe: str) -> list[dict[str, Any]]:
    rows = shipped_recipe(recipe).sample_curriculum
    found = [*rows.training, *rows.validation]
    assert len(found) >= 28
    return found


async def test_the_number_decides_an_answer_of_reasoning(trials: Trials) -> None:
    grader = shipped_recipe("reasoning").options["grader"]
    assert grader["source"] == number_source("answer"), "it reads numbers as `auto` does"
    for item in items("reasoning")[::4]:
        right = item["answer"]
        assert await reward(trials, "reasoning", item, f"5 + 1 = 6, so\n{right:,}") == 1
        assert await reward(trials, "reasoning", item, f"{right}, no:\n{right + 1}") == 0


CODE = {
    "double": "return x * 2",
    "second": "return sorted(x)[1]",
    "is_palindrome": "return x == x[::-1]",
    "repeat": "return x * y",
}
"""Bodies of functions that pass every test of their rows."""


async def test_a_function_is_run_against_the_tests_of_its_row(trials: Trials) -> None:
    by_name = {item["function"]: item for item in items("code_assistant")}
    for name, body in CODE.items():
        arguments = "x, y" if name == "repeat" else "x"
        code = f"```python\ndef {name}({arguments}):\n    {{}}\n```"
        item = by_name[name]
        assert await reward(trials, "code_assistant", item, code.format(body)) == 1
        assert await reward(trials, "code_assistant", item, code.format("return 'zz'")) == 0


async def test_an_answer_of_support_names_its_rule_briefly(trials: Trials) -> None:
    for item in items("customer_support"):
        answer = f"Thank you for asking. The rule is {item['fact']}."
        assert await reward(trials, "customer_support", item, answer) == 1
        long = answer + " And so on." * 40
        assert await reward(trials, "customer_support", item, long) == pytest.approx(0.8)
        assert await reward(trials, "customer_support", item, "Thank you for asking.") == 0


async def test_a_call_is_compared_with_that_of_its_row(trials: Trials) -> None:
    for item in items("tool_use"):
        [call] = item["calls"]
        assert await reward(trials, "tool_use", item, json.dumps(call)) == 1
        other = {**call, "name": "delete_order"}
        assert await reward(trials, "tool_use", item, json.dumps(other)) == 0
        wrong = {**call, "arguments": dict.fromkeys(call["arguments"], "nothing")}
        assert await reward(trials, "tool_use", item, json.dumps(wrong)) == pytest.approx(0.3)


async def test_pairs_of_safety_refuse_harm_and_answer_what_only_sounds_harmful() -> None:
    refused = [
        (row["preferred_output"][0]["content"].startswith("I can't help"), row)
        for row in items("safety_alignment")
    ]
    for refuses, row in refused:
        other = row["non_preferred_output"][0]["content"]
        assert other.startswith("I can't help") is not refuses
    assert sum(refuses for refuses, _ in refused) == 51
    assert len(refused) == 98
