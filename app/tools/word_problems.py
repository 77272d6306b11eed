"""Arithmetic and word problems. They are numbered, so that none occurs twice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.answer_numbers import number_of
from app.graders.answer_words import number_source
from app.graders.grader_model import fault_at
from app.tools.environment_options import EnvironmentOptions, task_digits, task_number

Operation = Literal["add", "subtract", "multiply"]
_SIGNS: Final[dict[str, str]] = {"add": "+", "subtract": "-", "multiply": "*"}
_ANSWER_LINE: Final = r"(?m)^Answer: [+-]?[0-9][0-9,.]*\s*\z"
_PROMPT: Final = (
    "Compute {expression}. End with a line of the form 'Answer: N', where N is the result."
)


class ArithmeticEnvironment(EnvironmentOptions):
    """Random arithmetic; an answer earns 1 if it gives the result, else 0."""

    grader_options: ClassVar[frozenset[str]] = frozenset({"format_penalty"})

    type: Literal["arithmetic"]
    operands: int = Field(default=2, ge=2, le=8, strict=True)
    """Number of operands of each problem."""
    min_operand: int = Field(default=0, ge=-1_000_000, le=1_000_000, strict=True)
    """Smallest operand."""
    max_operand: int = Field(default=99, ge=-1_000_000, le=1_000_000, strict=True)
    """Largest operand."""
    operations: tuple[Operation, ...] = Field(default=("add", "subtract"), min_length=1)
    """The operations to draw from; products are computed before sums."""
    format_penalty: float = Field(default=0.0, ge=0, le=1, strict=True)
    """Amount by which the reward of an answer without a final line `Answer: N` is reduced."""

    @field_validator("operations")
    @classmethod
    def _named_once(cls, operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
        if len(set(operations)) < len(operations):
            raise PydanticCustomError("environment_error", "an operation is named twice")
        return operations

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        if self.max_operand >= self.min_operand:
            return self
        if "max_operand" in self.model_fields_set:
            raise fault_at("max_operand", "it is below 'min_operand'", kind="environment_error")
        fault = f"it is above 'max_operand', which is {self.max_operand} where it is not sent"
        raise fault_at("min_operand", fault, kind="environment_error")

    @property
    def problems(self) -> int:
        span = self.max_operand - self.min_operand + 1
        return int(span**self.operands * len(self.operations) ** (self.operands - 1))

    def row(self, number: int) -> dict[str, Any]:
        span, kinds = self.max_operand - self.min_operand + 1, len(self.operations)
        digits = task_digits(number, (span,) * self.operands + (kinds,) * (self.operands - 1))
        numbers = [self.min_operand + digit for digit in digits[: self.operands]]
        chosen = [self.operations[digit] for digit in digits[self.operands :]]
        expression = _written(numbers[0])
        for operation, value in zip(chosen, numbers[1:], strict=True):
            expression += f" {_SIGNS[operation]} {_written(value)}"
        prompt = _PROMPT.format(expression=expression)
        return {
            "messages": [{"role": "user", "content": prompt}],
            "expression": expression,
            "answer": str(result_of(numbers, chosen)),
        }

    def grader(self) -> dict[str, Any]:
        correct = {
            "type": "python",
            "name": "arithmetic",
            "source": number_source("answer"),
            "pass_threshold": 0.5,
        }
        if not self.format_penalty:
            return correct
        form = {"type": "regex", "name": "form", "pattern": _ANSWER_LINE}
        return {
            "type": "multi",
            "name": "arithmetic",
            "graders": {"correct": correct, "form": form},
            "calculate_output": f"correct - {self.format_penalty!r} * (1 - form)",
            "pass_threshold": 0.5,
        }


def result_of(numbers: list[int], operations: list[Operation]) -> int:
    terms = [numbers[0]]
    for operation, value in zip(operations, numbers[1:], strict=True):
        match operation:
            case "add":
                terms.append(value)
            case "subtract":
                terms.append(-value)
            case "multiply":
                terms[-1] *= value
    return sum(terms)


def _written(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


_NAMES: Final = ("Ada", "Bela", "Chidi", "Dara", "Emre", "Farah", "Goro", "Hana")


@dataclass(frozen=True, slots=True)
class WordProblem:
    question: str
    steps: tuple[str, ...]
    answer: int


@dataclass(frozen=True, slots=True)
class Story:
    sizes: tuple[int, ...]
    write: Callable[..., WordProblem]

    @property
    def problems(self) -> int:
        total = len(_NAMES)
        for size in self.sizes:
            total *= size
        return total

    def problem(self, number: int) -> WordProblem:
        name, *values = task_digits(number, (len(_NAMES), *self.sizes))
        return self.write(_NAMES[name], *values)


def _shelves(name: str, a: int, b: int) -> WordProblem:
    shelves, books = a + 2, b + 3
    total = shelves * books
    return WordProblem(
        f"{name} fills {shelves} shelves with {books} books each. How many books stand there?",
        (f"{shelves} shelves with {books} books are {shelves} * {books} = {total} books.",),
        total,
    )


def _orchard(name: str, a: int, b: int) -> WordProblem:
    picked, eaten = a + 20, b + 1
    left = picked - eaten
    return WordProblem(
        f"{name} picks {picked} plums and eats {eaten} on the way home. How many plums are left?",
        (f"{picked} - {eaten} = {left} plums are left.",),
        left,
    )


def _ferry(name: str, a: int, b: int, c: int) -> WordProblem:
    trips, people, late = a + 2, b + 4, c + 1
    carried = trips * people
    return WordProblem(
        f"{name}'s ferry crosses {trips} times with {people} people each, and once more with "
        f"{late} people. How many people does it carry?",
        (
            f"The full crossings carry {trips} * {people} = {carried} people.",
            f"With the last one it is {carried} + {late} = {carried + late} people.",
        ),
        carried + late,
    )


def _bakery(name: str, a: int, b: int, c: int) -> WordProblem:
    trays, rolls, sold = a + 3, b + 6, c + 1
    baked = trays * rolls
    return WordProblem(
        f"{name} bakes {trays} trays of {rolls} rolls and sells {sold} of them. How many rolls "
        "remain?",
        (
            f"{trays} trays are {trays} * {rolls} = {baked} rolls.",
            f"After the sale {baked} - {sold} = {baked - sold} rolls remain.",
        ),
        baked - sold,
    )


def _savings(name: str, a: int, b: int, c: int) -> WordProblem:
    weekly, weeks, price = a + 5, b + 4, c + 2
    saved = weekly * weeks
    return WordProblem(
        f"{name} saves {weekly} euros a week for {weeks} weeks and then buys a book for {price} "
        "euros. How many euros are left?",
        (
            f"In {weeks} weeks that is {weekly} * {weeks} = {saved} euros.",
            f"After the book {saved} - {price} = {saved - price} euros are left.",
        ),
        saved - price,
    )


def _garden(name: str, a: int, b: int, c: int) -> WordProblem:
    rows, plants, share = a + 2, b + 2, c + 2
    total = rows * plants * share
    return WordProblem(
        f"{name} plants {rows} beds. Each bed has {plants} rows, and each row {share} lettuces. "
        "How many lettuces are there?",
        (
            f"A bed has {plants} * {share} = {plants * share} lettuces.",
            f"{rows} beds have {rows} * {plants * share} = {total} lettuces.",
        ),
        total,
    )


def _teams(name: str, a: int, b: int, c: int) -> WordProblem:
    teams, members, spare = a + 2, b + 3, c + 1
    children = teams * members + spare
    return WordProblem(
        f"{name} splits {children} children into {teams} teams of equal size, and {spare} "
        "children keep the score. How many children are in a team?",
        (
            f"{children} - {spare} = {teams * members} children play.",
            f"A team has {teams * members} / {teams} = {members} children.",
        ),
        members,
    )


def _journey(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    speed, hours, slow, more = 10 * a + 30, b + 2, 5 * c + 10, d + 1
    fast, late = speed * hours, slow * more
    return WordProblem(
        f"{name} drives {hours} hours at {speed} km per hour and then {more} hours at {slow} km "
        "per hour. How many kilometres is that?",
        (
            f"The first part is {hours} * {speed} = {fast} km.",
            f"The second part is {more} * {slow} = {late} km.",
            f"Together that is {fast} + {late} = {fast + late} km.",
        ),
        fast + late,
    )


def _concert(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    rows, seats, empty, price = a + 8, b + 10, c + 1, d + 5
    taken = rows * seats - empty
    return WordProblem(
        f"{name}'s hall has {rows} rows of {seats} seats. {empty} seats stay empty, and a ticket "
        f"costs {price} euros. How many euros do the tickets bring?",
        (
            f"The hall has {rows} * {seats} = {rows * seats} seats.",
            f"{rows * seats} - {empty} = {taken} seats are taken.",
            f"They bring {taken} * {price} = {taken * price} euros.",
        ),
        taken * price,
    )


def _workshop(name: str, a: int, b: int, c: int, d: int) -> WordProblem:
    chairs, tables, hours, paid = a + 3, b + 2, c + 2, d + 8
    worked = chairs * hours + tables * 2 * hours
    return WordProblem(
        f"{name} makes {chairs} chairs in {hours} hours each and {tables} tables in twice that "
        f"time each, for {paid} euros an hour. How many euros does {name} earn?",
        (
            f"The chairs take {chairs} * {hours} = {chairs * hours} hours.",
            f"The tables take {tables} * {2 * hours} = {tables * 2 * hours} hours.",
            f"That is {chairs * hours} + {tables * 2 * hours} = {worked} hours.",
            f"They earn {worked} * {paid} = {worked * paid} euros.",
        ),
        worked * paid,
    )


_BY_STEPS: Final = {
    1: (Story((18, 30), _shelves), Story((60, 18), _orchard)),
    2: (
        Story((12, 20, 18), _ferry),
        Story((10, 14, 17), _bakery),
        Story((20, 12, 18), _savings),
        Story((10, 10, 10), _garden),
        Story((10, 20, 6), _teams),
    ),
    3: (Story((8, 6, 8, 5), _journey), Story((12, 15, 20, 15), _concert)),
    4: (Story((8, 6, 5, 12), _workshop),),
}
MAX_STEPS: Final = max(_BY_STEPS)


def stories(most_steps: int) -> tuple[Story, ...]:
    return tuple(
        story for steps, chosen in _BY_STEPS.items() if steps <= most_steps for story in chosen
    )


def problem_count(most_steps: int) -> int:
    chosen = stories(most_steps)
    return len(chosen) * min(story.problems for story in chosen)


def problem(number: int, most_steps: int) -> WordProblem:
    chosen = stories(most_steps)
    within, position = divmod(number, len(chosen))
    story = chosen[position]
    return story.problem(task_number(within, of=story.problems, seed=position))


MARK: Final = "####"
PROBLEM_COLUMNS: Final = ("question", "answer")
_PROMPT_GSM8K: Final = (
    "{question}\n\nThink step by step. End with a line of the form '#### N', where N is the answer."
)


class UnreadableProblem(ValueError):
    """A row that is not a problem in this format. The text is for its author."""


class Gsm8kEnvironment(EnvironmentOptions):
    """Word problems; an answer earns 1 if it gives the number of the reference, else 0."""

    type: Literal["gsm8k"]
    file: str | None = Field(
        default=None, min_length=1, max_length=256, exclude_if=lambda value: value is None
    )
    """Id of a JSONL or Parquet file with `question` and `answer` in each row, as in the public data
    set; its problems are used in an order drawn from the seed. Absent: word problems of this
    service."""
    max_steps: int = Field(default=MAX_STEPS, ge=1, le=MAX_STEPS, strict=True)
    """Largest number of steps of a solution; for the service's own problems only."""

    @model_validator(mode="after")
    def _steps_are_those_of_its_own_problems(self) -> Self:
        if self.file is not None and "max_steps" in self.model_fields_set:
            raise fault_at("max_steps", "it is about the service's own problems, not about 'file'")
        return self

    @property
    @override
    def problem_file(self) -> str | None:
        return self.file

    @property
    def problems(self) -> int:
        return problem_count(self.max_steps)

    def row(self, number: int) -> dict[str, Any]:
        solved = problem(number, self.max_steps)
        answer = "\n".join((*solved.steps, f"{MARK} {solved.answer}"))
        return row_of({"question": solved.question, "answer": answer})

    def grader(self) -> dict[str, Any]:
        return {"type": "python", "name": "gsm8k", "source": number_source("answer")}


def row_of(sent: dict[str, Any]) -> dict[str, Any]:
    question, solution = map(sent.get, PROBLEM_COLUMNS)
    if not isinstance(question, str) or not question.strip():
        raise UnreadableProblem("'question' must be a text")
    if not isinstance(solution, str) or MARK not in solution:
        raise UnreadableProblem(f"'answer' must be a text that ends with '{MARK} N'")
    worked, _, final = solution.rpartition(MARK)
    if number_of(final) is None:
        raise UnreadableProblem(f"what follows '{MARK}' in 'answer' is not a number")
    return {
        "messages": [{"role": "user", "content": _PROMPT_GSM8K.format(question=question.strip())}],
        "question": question,
        "solution": worked.strip(),
        "answer": final.strip(),
    }
