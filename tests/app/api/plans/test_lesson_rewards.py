"""Lessons of the shipped scholar under the graders of the recipes, for real."""

import itertools
from typing import Any

from app.teaching.recipes.service import shipped_recipe
from labs.base_models.lessons import code_assistant
from labs.base_models.lessons.code_assistant import FUNCTIONS
from labs.base_models.scholar import lessons
from tests.support.cases import cases
from tests.support.registry.recipe_rewards import reward
from tests.support.registry.trials import Trials

LESSONS = 6


def text(message: dict[str, Any]) -> str:
    """The answer as a model writes it."""
    lines = [message["content"]] if message["content"] else []
    for call in message.get("tool_calls") or []:
        function = call["function"]
        body = f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}'
        lines.append(f"<tool_call>\n{body}\n</tool_call>")
    return "\n".join(lines)


@cases("recipe", ["reasoning", "customer_support", "tool_use"])
async def test_right_answers_get_the_most_and_sloppy_ones_less(trials: Trials, recipe: str) -> None:
    for lesson in itertools.islice(lessons(recipe, 9), LESSONS):
        right, sloppy = text(lesson.right), text(lesson.sloppy)
        assert await reward(trials, recipe, lesson.reference, right) == 1, right
        assert await reward(trials, recipe, lesson.reference, sloppy) <= 0.3, sloppy


async def test_functions_pass_the_tests_of_rows_and_drafts_do_not(trials: Trials) -> None:
    by_description = {function.description: function for function in FUNCTIONS}
    rows = shipped_recipe("code_assistant").sample_curriculum
    graded = 0
    for row in rows.validation[::2]:
        asked = row["messages"][0]["content"].partition(" that returns ")[2]
        function = by_description.get(asked.removesuffix(f". {code_assistant.TASK}"))
        if function is None:
            continue  # it names a number or a letter
        graded += 1
        name = row["function"]
        right = code_assistant.block(function, name, function.body)
        draft = code_assistant.DRAFT + code_assistant.block(function, name, function.wrong[0])
        assert await reward(trials, "code_assistant", row, right) == 1, right
        assert await reward(trials, "code_assistant", row, draft) < 1, draft
        assert await reward(trials, "code_assistant", row, code_assistant.WORDS) == 0
    assert graded >= 5
