"""The graders of built-in environments on their own tasks: right, wrong and half-right answers."""

from typing import Any

import pytest

from tests.support.environments.built_in import read_built_in
from tests.support.grading.scores import scored
from tests.support.sandbox.running import RunningSandbox


async def reward(
    environment: dict[str, Any], answer: str, sandbox: RunningSandbox, *, number: int
) -> float:
    """Scores an answer to the task of this number."""
    own = read_built_in(environment)
    result = await scored(own.grader(), answer, item=own.row(number), sandbox=sandbox.client)
    assert result.errors.raised == ()
    return result.score


# 7 * 7 of the numbers -3 to 3 and 1 operation: number 9 is (9 % 7 - 3) - (9 // 7 - 3) = -1 - -2.
DIFFERENCE = {
    "type": "arithmetic", "min_operand": -3, "max_operand": 3, "operations": ["subtract"],
}  # fmt: skip


def test_the_problem_of_a_number_is_known() -> None:
    assert read_built_in(DIFFERENCE).row(9)["expression"] == "(-1) - (-2)"


@pytest.mark.parametrize(
    ("answer", "plain", "with_penalty"),
    [
        ("-1 plus 2 is one.\nAnswer: 1", 1.0, 1.0),
        ("It is 1", 1.0, 0.75),
        ("Answer: 1\nI checked it in 3 ways.", 1.0, 0.75),
        ("Answer: -1", 0.0, 0.0),
        ("", 0.0, -0.25),
    ],
)
async def test_arithmetic_reads_the_number_of_an_answer(
    answer: str, plain: float, with_penalty: float, sandbox: RunningSandbox
) -> None:
    assert await reward(DIFFERENCE, answer, sandbox, number=9) == plain
    strict = {**DIFFERENCE, "format_penalty": 0.25}
    assert await reward(strict, answer, sandbox, number=9) == pytest.approx(with_penalty)


async def test_word_problems_read_the_number_of_an_answer(sandbox: RunningSandbox) -> None:
    environment = {"type": "gsm8k", "max_steps": 3}
    row = read_built_in(environment).row(6)
    answer = int(row["answer"])
    for text, expected in (
        (f"{row['solution']}\n#### {answer}", 1.0),
        (f"So it is {answer:,}.00 in all.", 1.0),
        (f"#### {answer}\nI checked it in {answer + 1} ways.", 1.0),
        (f"#### {answer + 1}\nOr {answer}?", 0.0),
        ("I do not know.", 0.0),
    ):
        assert await reward(environment, text, sandbox, number=6) == expected, text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[value * 1 + 1 for value in values]", 1.0),
        ("[value for value in values]", 1 / 6),  # right for no numbers only
        ("1 / 0", 0.0),
    ],
)
async def test_a_function_earns_the_share_of_its_tests(
    body: str, expected: float, sandbox: RunningSandbox
) -> None:
    environment = {"type": "code_execution", "level": 1}
    row = read_built_in(environment).row(1)
    assert (row["function"], len(row["tests"])) == ("all_linear", 6)
    code = f"```python\ndef all_linear(values):\n    return {body}\n```"
    found = await reward(environment, f"Here:\n{code}", sandbox, number=1)
    assert found == pytest.approx(expected)
