"""Tasks of the built-in environments: functions of seed and index, held-out ones apart, answers
right by another computation than the one that made them.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from app.graders.definitions import read_grader
from app.kit.errors import InvalidRequest
from app.tools.environment_options import task_number
from app.tools.environments import check_count, training_numbers, validation_numbers
from app.tools.word_problems import UnreadableProblem, row_of
from app.tools.written_tasks import (
    LEVELS,
    MAX_K,
    MAX_LEVEL,
    MAX_M,
    CodeTask,
    code_task,
    problem_count,
)
from tests.support.cases import cases
from tests.support.environments.built_in import read_built_in

JUDGE = {"type": "llm_judge", "model": "judge"}
UNWEIGHTED = {"name": "a", "description": "b", "weight": 0}
ALL = [{"type": "arithmetic"}, {"type": "gsm8k"}, {"type": "code_execution"}, JUDGE]


def tasks(sent: dict[str, Any], **options: Any) -> tuple[list[Any], list[Any]]:
    """Returns the rows of training and of validation."""
    environment = read_built_in({**sent, **options})
    numbers = [
        order(environment, environment.problems) for order in (training_numbers, validation_numbers)
    ]
    training, validation = [[environment.row(number) for number in each] for each in numbers]
    return training, validation


def prompts(rows: list[Any]) -> list[str]:
    return [row["messages"][0]["content"] for row in rows]


@cases(("of", "seed"), [(1, 0), (2, 9), (3, 1), (64, 0), (1000, 7)])
def test_each_problem_has_one_index_in_the_order(of: int, seed: int) -> None:
    order = [task_number(index, of=of, seed=seed) for index in range(of)]
    assert sorted(order) == list(range(of))


def test_the_order_depends_on_the_seed() -> None:
    first, second = (
        [task_number(index, of=10**12, seed=seed) for index in range(50)] for seed in (1, 2)
    )
    assert not set(first) & set(second)
    assert first != sorted(first)


@cases("sent", ALL, ids=lambda sent: sent["type"])
def test_tasks_differ_and_held_out_ones_are_no_training_tasks(sent: dict[str, Any]) -> None:
    training, validation = tasks(sent, training_tasks=500, validation_tasks=100)
    assert len(set(prompts(training))) == 500
    assert len(set(prompts(validation))) == 100
    assert not set(prompts(training)) & set(prompts(validation))


@cases("sent", ALL, ids=lambda sent: sent["type"])
def test_a_task_is_a_function_of_seed_and_index(sent: dict[str, Any]) -> None:
    few, held_out = tasks(sent, training_tasks=10, validation_tasks=10, seed=5)
    more, same = tasks(sent, training_tasks=20, validation_tasks=10, seed=5)
    other, _ = tasks(sent, training_tasks=10, validation_tasks=10, seed=6)
    assert (more[:10], same) == (few, held_out)
    assert prompts(other) != prompts(few)


@cases("sent", ALL, ids=lambda sent: sent["type"])
def test_more_tasks_than_problems_are_refused_with_their_number(sent: dict[str, Any]) -> None:
    environment = read_built_in({**sent, "training_tasks": 30})
    check_count(environment, 62)
    with pytest.raises(InvalidRequest, match="61 different problems") as caught:
        check_count(environment, 61)
    assert caught.value.param == "method.reinforcement.environment.training_tasks"


def test_results_of_arithmetic_are_those_of_python() -> None:
    options = {"operands": 4, "min_operand": -12, "operations": ["add", "subtract", "multiply"]}
    training, validation = tasks({"type": "arithmetic"}, **options)
    for row in (*training, *validation):
        numbers = [int(each) for each in re.findall(r"(?<![\d)] )\(?(-?\d+)\)?", row["expression"])]
        assert row["expression"] in row["messages"][0]["content"]
        assert int(row["answer"]) == eval(row["expression"])  # noqa: S307 - our own text
        assert len(numbers) == 4
        assert all(-12 <= number <= 99 for number in numbers)
    assert {sign for row in training for sign in "+-*" if f" {sign} " in row["expression"]} == {
        *"+-*"
    }


def test_solutions_of_word_problems_lead_to_their_answers() -> None:
    training, _ = tasks({"type": "gsm8k"}, training_tasks=2000)
    for row in training:
        steps = re.findall(r"([\d *+/-]+) = (\d+)", row["solution"])
        assert steps
        for computed, written in steps:
            assert eval(computed) == int(written)  # noqa: S307 - our own text
        assert int(row["answer"]) == int(steps[-1][1])
        for number in re.findall(r"\d+", row["question"]):
            assert number in row["solution"]
    reported = {re.sub(r"\d+|[A-Z][a-z]+", "", row["question"]) for row in training}
    assert len(reported) == 10


def test_easier_word_problems_have_fewer_steps() -> None:
    for most in (1, 2, 3, 4):
        rows, _ = tasks({"type": "gsm8k"}, training_tasks=500, max_steps=most)
        assert max(row["solution"].count("=") for row in rows) == most


@cases(
    ("row", "part"),
    [
        ({"question": "", "answer": "#### 4"}, "'question'"),
        ({"question": "How many?", "answer": "4"}, "#### N"),
        ({"question": "How many?"}, "'answer'"),
    ],
)
def test_what_is_no_problem_is_refused(row: dict[str, Any], part: str) -> None:
    with pytest.raises(UnreadableProblem, match=re.escape(part)):
        row_of(row)


def test_a_problem_of_the_public_form_is_read() -> None:
    row = row_of({"question": " How many? ", "answer": "12 * 100 = <<12*100=1200>>\n#### 1,200"})
    assert row["answer"] == "1,200"
    assert row["solution"] == "12 * 100 = <<12*100=1200>>"
    assert prompts([row])[0].startswith("How many?\n\nThink step by step.")


def _runs(values: list[int], size: int) -> list[int]:
    return [sum(each) for each in zip(*(values[at:] for at in range(size)), strict=False)]


def _in_base(value: int, base: int) -> list[int]:
    digits = [value % base]
    return [*(_in_base(value // base, base) if value >= base else []), *digits]


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
SOLVED: dict[str, Callable[[Any, int, int], Any]] = {
    "linear": lambda value, k, m: m + k * value,
    "all_linear": lambda values, k, m: list(map(lambda value: m + k * value, values)),  # noqa: C417 - another form
    "count_outside": lambda values, k, m: len([1 for value in values if not -m <= value <= k]),
    "sum_inside": lambda values, k, m: sum(
        value * (value in range(-m, k + 1)) for value in values
    ),
    "multiples": lambda values, k, m: [m + value for value in values if not value % (1 + k)],
    "clipped": lambda values, k, m: [sorted((-k, value, m))[1] for value in values],
    "rotated": lambda values, k, m: [
        *(values[(at + k) % len(values)] for at in range(len(values))), m
    ],
    "long_words": lambda text, k, m: re.findall(rf"(?<!\S)\S{{{k},}}", text)[:m],
    "chunk_sums": lambda values, k, m: [
        m + sum(value for _, value in each)
        for _, each in itertools.groupby(enumerate(values), lambda pair: pair[0] // k)
    ],
    "shifted": lambda text, k, m: text[:m].translate(
        str.maketrans(_ALPHABET, _ALPHABET[k:] + _ALPHABET[:k])
    ),
    "digits": lambda value, k, m: _in_base(abs(value) + m, k + 1),
    "largest_sum": lambda values, k, m: max((m + each for each in _runs(values, k)), default=None),
}  # fmt: skip


@cases("level", [1, 2, 3])
def test_tests_of_functions_expect_what_the_task_describes(level: int) -> None:
    training, _ = tasks({"type": "code_execution"}, training_tasks=300, level=level)
    for row in training:
        prompt = prompts([row])[0]
        assert f"`{row['function']}(" in prompt
        k, m = numbers_of(row["function"], prompt)
        for test in row["tests"]:
            (argument,) = test["arguments"]
            solved = SOLVED[row["function"]](argument, k, m)
            assert solved == test["expected"], (prompt, argument)
    assert len({row["function"] for row in training}) == 4


def numbers_of(function: str, prompt: str) -> tuple[int, int]:
    """Returns k and m, in whichever order the task names them."""
    text = prompt.replace(" + 1", "")  # the base or divisor is k + 1
    first, second = (int(each) for each in re.findall(r"(?<!\w)\d+", text))
    swapped = {"sum_inside", "long_words", "shifted"}
    return (second, first) if function in swapped else (first, second)


def test_graders_are_definitions_that_can_be_sent() -> None:
    kinds = {sent["type"]: read_grader(read_built_in(sent).grader()).type for sent in ALL}
    assert kinds == {
        "arithmetic": "python",
        "gsm8k": "python",
        "code_execution": "code_execution",
        "llm_judge": "llm_judge",
    }


@cases(
    ("sent", "path"),
    [
        ({"type": "chess"}, ("type",)),
        ({"type": "arithmetic", "operand": 3}, ("operand",)),
        ({"type": "arithmetic", "min_operand": 5, "max_operand": 4}, ("max_operand",)),
        ({"type": "arithmetic", "operations": ["add", "add"]}, ("operations",)),
        ({"type": "arithmetic", "format_penalty": 1.5}, ("format_penalty",)),
        ({"type": "arithmetic", "training_tasks": True}, ("training_tasks",)),
        ({"type": "gsm8k", "file": "file-a", "max_steps": 2}, ("max_steps",)),
        ({**JUDGE, "modell": "a"}, ("modell",)),
        ({**JUDGE, "prompts": ["a"] * 20}, ("prompts",)),
        ({**JUDGE, "prompts": [*map(str, range(20)), "7 "]}, ("prompts",)),
        ({**JUDGE, "headers": {"A": "b"}}, ("headers",)),
        ({**JUDGE, "base_url": "https://judge.example/v1?x=1"}, ("base_url",)),
        ({**JUDGE, "rubric": [UNWEIGHTED]}, ("rubric", 0, "weight")),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(sent: dict[str, Any], path: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        read_built_in(sent)
    assert caught.value.errors()[0]["loc"] == path


def _passes(task: CodeTask, other: Callable[..., Any]) -> bool:
    """Returns whether a function has the expected value of every test of a task."""
    try:
        return all(other(*test["arguments"]) == test["expected"] for test in task.tests)
    except ArithmeticError:
        return False


@cases("level", range(1, MAX_LEVEL + 1))
def test_a_function_with_another_number_fails_a_test(level: int) -> None:
    found = []
    for kind, problem in enumerate(LEVELS[level - 1]):
        for k, m in itertools.product(range(1, MAX_K + 1, 2), range(1, MAX_M + 1, 2)):
            number = kind + len(LEVELS[level - 1]) * (k - 1 + MAX_K * (m - 1))
            task = code_task(number, level)
            assert _passes(task, problem.solution(k, m))
            others = [(other, m) for other in range(1, MAX_K + 1) if other != k]
            others += [(k, other) for other in range(1, MAX_M + 1) if other != m]
            found += [
                (problem.signature, k, m, other)
                for other in others
                if _passes(task, problem.solution(*other))
            ]
    assert found == []


def test_words_are_counted_in_characters_as_the_task_states() -> None:
    tasks_ = [code_task(number, 2) for number in range(problem_count(2))]
    words = [task for task in tasks_ if task.function == "long_words"]
    assert len(words) == MAX_K * MAX_M
    assert all("characters or more" in task.returns for task in words)
