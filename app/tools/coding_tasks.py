"""Original programming tasks: functions to write, with two numbers to fill in, and their tests.

The solution here computes the expected values of tests; the arguments depend on the numbers, so
that a function with any other number fails.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import Field

from app.tools.environment_options import EnvironmentOptions, task_digits

Function = Callable[..., Any]
Values = list[int]
MAX_K: Final = 20
MAX_M: Final = 40


@dataclass(frozen=True, slots=True)
class CodeProblem:
    signature: str
    returns: str
    """The value that the function returns; `{k}` and `{m}` are the numbers that are filled in."""
    solution: Callable[[int, int], Function]
    """Takes the numbers and returns the function."""
    arguments: Callable[[int, int], list[Any]]
    """Takes the numbers and returns the argument of each test's call."""


@dataclass(frozen=True, slots=True)
class CodeTask:
    signature: str
    function: str
    returns: str
    tests: list[dict[str, Any]]


def _numbers(k: int, m: int) -> list[Any]:
    return [0, 1, k, m, k * m + 3, -7 * m]


def _lists(k: int, m: int) -> list[Any]:
    step = k + 1
    return [
        [],
        [k],
        [k + 1, k - 1, 0, -m - 1],
        [3 * k, -2 * m, m + 7, m, k + 1, 5],
        [2 * step, 3 * step, k, 1, -step, -m, 7 * step],
        list(range(1, 2 * step + 1)),
    ]


def _lengths(k: int, m: int) -> list[Any]:
    return [
        *(
            [(37 * at + 11 * m) % 101 - 50 for at in range(length)]
            for length in (0, 1, k, k + 1, 2 * k + 3, 3 * k)
        ),
        list(range(1, 2 * k + 2)),
    ]


def _texts(k: int, m: int) -> list[Any]:
    return [
        "",
        "a",
        f"{'z' * k} {'y' * (k + 1)} {'x' * max(1, k - 1)}",
        "Level up, level by  level",
        " ".join([f"{'z' * max(1, k - 1)} {'y' * k}"] * (m + 1)),
        " ".join("word" + "s" * (at % 17) for at in range(m + 3)),
    ]


def _linear(k: int, m: int) -> Function:
    return lambda value: value * k + m


def _all_linear(k: int, m: int) -> Function:
    return lambda values: [value * k + m for value in values]


def _count_outside(k: int, m: int) -> Function:
    return lambda values: sum(1 for value in values if value > k or value < -m)


def _sum_inside(k: int, m: int) -> Function:
    return lambda values: sum(value for value in values if -m <= value <= k)


def _multiples(k: int, m: int) -> Function:
    return lambda values: [value + m for value in values if value % (k + 1) == 0]


def _clipped(k: int, m: int) -> Function:
    return lambda values: [max(-k, min(m, value)) for value in values]


def _rotated(k: int, m: int) -> Function:
    def rotate(values: Values) -> Values:
        by = k % len(values) if values else 0
        return [*values[by:], *values[:by], m]

    return rotate


def _long_words(k: int, m: int) -> Function:
    return lambda text: [word for word in text.split() if len(word) >= k][:m]


def _chunk_sums(k: int, m: int) -> Function:
    return lambda values: [sum(values[at : at + k]) + m for at in range(0, len(values), k)]


def _shifted(k: int, m: int) -> Function:
    def shift(text: str) -> str:
        letters = [
            chr((ord(letter) - ord("a") + k) % 26 + ord("a")) if "a" <= letter <= "z" else letter
            for letter in text
        ]
        return "".join(letters)[:m]

    return shift


def _digits(k: int, m: int) -> Function:
    def digits(value: int) -> Values:
        rest, found = abs(value) + m, Values()
        while rest:
            rest, digit = divmod(rest, k + 1)
            found.append(digit)
        return found[::-1]

    return digits


def _largest_sum(k: int, m: int) -> Function:
    def largest(values: Values) -> int | None:
        sums = [sum(values[at : at + k]) + m for at in range(len(values) - k + 1)]
        return max(sums, default=None)

    return largest


_EXPRESSIONS: Final = (
    CodeProblem("linear(value)", "the number `value` times {k} plus {m}", _linear, _numbers),
    CodeProblem(
        "all_linear(values)",
        "a list of the numbers in `values`, each times {k} plus {m}",
        _all_linear,
        _lists,
    ),
    CodeProblem(
        "count_outside(values)",
        "how many of the numbers in `values` are above {k} or below -{m}",
        _count_outside,
        _lists,
    ),
    CodeProblem(
        "sum_inside(values)",
        "the sum of those numbers in `values` that are from -{m} to {k}, both included",
        _sum_inside,
        _lists,
    ),
)
_LISTS: Final = (
    CodeProblem(
        "multiples(values)",
        "a list of those numbers in `values` that {k} + 1 divides without a rest, each plus {m}",
        _multiples,
        _lists,
    ),
    CodeProblem(
        "clipped(values)",
        "a list of the numbers in `values`, each moved to the nearest one from -{k} to {m}",
        _clipped,
        _lists,
    ),
    CodeProblem(
        "rotated(values)",
        "the list `values` turned {k} places to the left (an empty one as it is), with {m} at its "
        "end",
        _rotated,
        _lengths,
    ),
    CodeProblem(
        "long_words(text)",
        "a list of the first {m} words of `text`, split at white space, that have {k} "
        "characters or more",
        _long_words,
        _texts,
    ),
)
_LOOPS: Final = (
    CodeProblem(
        "chunk_sums(values)",
        "a list of the sums of the pieces of `values`, in order, of {k} items each (the last may "
        "be shorter), each sum plus {m}",
        _chunk_sums,
        _lengths,
    ),
    CodeProblem(
        "shifted(text)",
        "the first {m} characters of `text`, with each of the letters a to z moved {k} places on "
        "in the alphabet, round from z to a, and anything else as it is",
        _shifted,
        _texts,
    ),
    CodeProblem(
        "digits(value)",
        "a list of the digits, in base {k} + 1 and the highest first, of the sum of {m} and the "
        "absolute value of `value`",
        _digits,
        _numbers,
    ),
    CodeProblem(
        "largest_sum(values)",
        "the largest sum of {k} neighbours in `values`, plus {m}; None where there are fewer",
        _largest_sum,
        _lengths,
    ),
)
LEVELS: Final = (_EXPRESSIONS, _LISTS, _LOOPS)
MAX_LEVEL: Final = len(LEVELS)


def problem_count(level: int) -> int:
    return len(LEVELS[level - 1]) * MAX_K * MAX_M


def code_task(number: int, level: int) -> CodeTask:
    """Returns a task by its number, below `problem_count`."""
    kinds = LEVELS[level - 1]
    kind, k, m = task_digits(number, (len(kinds), MAX_K, MAX_M))
    problem, k, m = kinds[kind], k + 1, m + 1
    solution = problem.solution(k, m)
    tests = [
        {"arguments": [argument], "expected": solution(argument)}
        for argument in problem.arguments(k, m)
    ]
    function = problem.signature.partition("(")[0]
    return CodeTask(problem.signature, function, problem.returns.format(k=k, m=m), tests)


_PROMPT: Final = (
    "Write a Python function `{signature}` that returns {returns}. Answer with one Markdown "
    "block of Python code."
)


class CodeExecutionEnvironment(EnvironmentOptions):
    """Functions to write; an answer earns the share of tests that its function passes."""

    type: Literal["code_execution"]
    level: int = Field(default=1, ge=1, le=MAX_LEVEL, strict=True)
    """Difficulty: 1 (one expression) to 3 (a loop with state)."""

    @property
    def problems(self) -> int:
        return problem_count(self.level)

    def row(self, number: int) -> dict[str, Any]:
        """Returns the row of a task, by its number."""
        task = code_task(number, self.level)
        prompt = _PROMPT.format(signature=task.signature, returns=task.returns)
        return {
            "messages": [{"role": "user", "content": prompt}],
            "function": task.function,
            "tests": task.tests,
        }

    def grader(self) -> dict[str, Any]:
        return {"type": "code_execution", "function": "{{item.function}}"}
