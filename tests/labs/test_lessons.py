"""Lessons: drawn by a seed, without held-out questions of recipes, and right where they say so."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from app.teaching.recipes.service import shipped_ids, shipped_recipe
from labs.base_models.lessons import code_assistant, reasoning, tool_use
from labs.base_models.lessons.code_assistant import FUNCTIONS
from labs.base_models.lessons.lesson import Lesson
from labs.base_models.scholar import DOMAINS, lessons
from tests.support.cases import cases

pytestmark = pytest.mark.long

COUNT = 400


def drawn(domain: str, seed: int = 5, count: int = COUNT) -> list[Lesson]:
    return list(itertools.islice(lessons(domain, seed), count))


def question(messages: list[dict[str, Any]]) -> str:
    return json.dumps(messages)


def test_every_recipe_has_lessons() -> None:
    recipes = [shipped_recipe(name) for name in shipped_ids()]
    assert {recipe.id for recipe in recipes} == {*DOMAINS}


@cases("domain", DOMAINS)
def test_equal_seeds_give_equal_lessons(domain: str) -> None:
    assert drawn(domain, 3) == drawn(domain, 3)
    assert drawn(domain, 3) != drawn(domain, 4)


@cases("domain", ["customer_support", "safety_alignment"])
def test_no_held_out_question_is_a_lesson(domain: str) -> None:
    """Sums, functions and small numbers are few: there a question can be one of the recipe's."""
    rows = shipped_recipe(domain).sample_curriculum.validation
    held_out = {question((row.get("input") or row)["messages"][-1:]) for row in rows}
    taught = {question(lesson.messages[-1:]) for lesson in drawn(domain, count=6000)}
    assert len(taught) > 250
    assert held_out & taught == set()


def test_no_held_out_town_is_in_lessons() -> None:
    rows = shipped_recipe("tool_use").sample_curriculum.validation
    arguments = [row["calls"][0]["arguments"] for row in rows]
    towns = {values["town"] for values in arguments if "town" in values}
    assert len(towns) >= 8
    assert towns & {*tool_use.PLACES} == set()


def test_the_steps_of_a_sum_lead_to_its_answer() -> None:
    for lesson in drawn("reasoning"):
        *steps, last = lesson.right["content"].splitlines()
        assert int(last) == lesson.reference["answer"]
        results = []
        for step in steps:
            left, operator, right, equals, result = step.split()
            assert equals == "="
            a, b = int(left), int(right)
            assert int(result) == {"+": a + b, "-": a - b, "*": a * b}[operator]
            results.append(result)
        assert results[-1] == last
        assert steps[1].startswith(f"{results[0]} "), "the second step goes on from the first"
        guess = lesson.sloppy["content"].removeprefix(reasoning.GUESS)
        assert 0 <= int(guess) != lesson.reference["answer"]


def returned(expression: str, arguments: tuple[Any, ...]) -> Any:
    """The value of a function's body, or the name of the error that it raises."""
    names: dict[str, Any] = {}
    code = f"def f({', '.join('xy'[: len(arguments)])}):\n    return {expression}"
    exec(code.replace("{name}", "f"), names)  # noqa: S102 - bodies of this repository's own table
    try:
        return names["f"](*arguments)
    except (TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
        return type(error).__name__


@cases("number", range(len(FUNCTIONS)))
def test_a_wrong_body_returns_something_else(number: int) -> None:
    for seed in range(20):
        function = FUNCTIONS[number].drawn(random.Random(seed))
        for wrong in function.wrong:
            assert any(
                repr(returned(function.body, example)) != repr(returned(wrong, example))
                for example in function.examples
            ), (function.body, wrong)


def test_functions_of_lessons_pass_the_tests_of_the_recipe() -> None:
    """The tests of a recipe's row were written without the table: they check its bodies."""
    bodies = {
        function.description: function.body
        for template in FUNCTIONS
        for function in (template.drawn(random.Random(seed)) for seed in range(300))
    }
    rows = shipped_recipe("code_assistant").sample_curriculum
    checked = 0
    for row in (*rows.training, *rows.validation):
        text = row["messages"][0]["content"]
        description = text.partition(" that returns ")[2].removesuffix(f". {code_assistant.TASK}")
        checked += len(row["tests"])
        for test in row["tests"]:
            arguments = tuple(test["arguments"])
            assert returned(bodies[description], arguments) == test["expected"], description
    assert checked >= 100


def test_the_right_rule_is_copied_from_the_policy() -> None:
    for lesson in drawn("customer_support"):
        policy, right = lesson.messages[0]["content"], lesson.right["content"]
        rule = right.partition(". ")[2]
        assert rule in policy
        assert lesson.reference["fact"] in rule
        assert lesson.reference["fact"] not in lesson.sloppy["content"]
