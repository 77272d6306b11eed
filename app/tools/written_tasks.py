"""Original tasks whose answers are written: functions with tests, and questions for a judge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import JudgeBaseUrl, JudgeSampling, check_headers
from app.graders.kinds.judges import LLM_JUDGE_DEFAULT_RUBRIC as DEFAULT_RUBRIC
from app.graders.kinds.judges import Rubric
from app.kit.fields import JudgeName, SecretHeaders
from app.tools.environment_options import EnvironmentOptions, is_absent, task_digits

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
    arguments: Callable[[int, int], list[Any]]


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


def _rotated(k: int, m: int) -> Function:
    def rotate(values: Values) -> Values:
        by = k % len(values) if values else 0
        return [*values[by:], *values[:by], m]

    return rotate


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
    CodeProblem(
        "linear(value)",
        "the number `value` times {k} plus {m}",
        lambda k, m: lambda value: value * k + m,
        _numbers,
    ),
    CodeProblem(
        "all_linear(values)",
        "a list of the numbers in `values`, each times {k} plus {m}",
        lambda k, m: lambda values: [value * k + m for value in values],
        _lists,
    ),
    CodeProblem(
        "count_outside(values)",
        "how many of the numbers in `values` are above {k} or below -{m}",
        lambda k, m: lambda values: sum(1 for value in values if value > k or value < -m),
        _lists,
    ),
    CodeProblem(
        "sum_inside(values)",
        "the sum of those numbers in `values` that are from -{m} to {k}, both included",
        lambda k, m: lambda values: sum(value for value in values if -m <= value <= k),
        _lists,
    ),
)
_LISTS: Final = (
    CodeProblem(
        "multiples(values)",
        "a list of those numbers in `values` that {k} + 1 divides without a rest, each plus {m}",
        lambda k, m: lambda values: [value + m for value in values if value % (k + 1) == 0],
        _lists,
    ),
    CodeProblem(
        "clipped(values)",
        "a list of the numbers in `values`, each moved to the nearest one from -{k} to {m}",
        lambda k, m: lambda values: [max(-k, min(m, value)) for value in values],
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
        lambda k, m: lambda text: [word for word in text.split() if len(word) >= k][:m],
        _texts,
    ),
)
_LOOPS: Final = (
    CodeProblem(
        "chunk_sums(values)",
        "a list of the sums of the pieces of `values`, in order, of {k} items each (the last may "
        "be shorter), each sum plus {m}",
        lambda k, m: (
            lambda values: [sum(values[at : at + k]) + m for at in range(0, len(values), k)]
        ),
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
        task = code_task(number, self.level)
        prompt = _PROMPT.format(signature=task.signature, returns=task.returns)
        return {
            "messages": [{"role": "user", "content": prompt}],
            "function": task.function,
            "tests": task.tests,
        }

    def grader(self) -> dict[str, Any]:
        return {"type": "code_execution", "function": "{{item.function}}"}


_TOPICS: Final = (
    "why the sky is blue",
    "how a bicycle stays upright",
    "what a database index is for",
    "how yeast makes dough rise",
    "why ships made of steel float",
    "how a vaccine works",
    "what inflation means for savings",
    "why leaves change colour in autumn",
    "how a refrigerator cools",
    "what a hash function does",
    "why tides come twice a day",
    "how noise-cancelling headphones work",
    "what makes a password strong",
    "how a lock on a canal lifts a boat",
    "why bread goes stale",
    "how glasses correct short sight",
    "what a leap year is for",
    "how a search engine ranks pages",
    "why mountains are cold at the top",
    "how compound interest grows",
    "what a version control system keeps",
    "why salt melts ice on roads",
    "how bees find their way home",
    "what an opinion poll can and cannot say",
    "how a thermos keeps tea hot",
    "why echoes happen in valleys",
    "what a prime number is",
    "how a rainbow forms",
    "why old films flicker",
    "how a heat pump warms a house",
)
_READERS: Final = (
    "a child of ten",
    "a new colleague",
    "somebody who reads it on a phone",
    "a sceptical neighbour",
    "a student before an exam",
    "a visitor who speaks little English",
)
_FORMS: Final = (
    "in one paragraph",
    "in three short sentences",
    "with one everyday example",
    "as a list of four points",
    "and name one common mistake about it",
)
_SIZES: Final = (len(_TOPICS), len(_READERS), len(_FORMS))
TASKS: Final = len(_TOPICS) * len(_READERS) * len(_FORMS)


def writing_task(number: int) -> str:
    topic, reader, form = task_digits(number, _SIZES)
    return f"Explain {_TOPICS[topic]} to {_READERS[reader]}, {_FORMS[form]}."


MAX_PROMPTS: Final = 1_000


def _not_blank(prompt: str) -> str:
    if not prompt.strip():
        raise PydanticCustomError(
            "environment_error", "the prompt is blank: send a question, or leave it out"
        )
    return prompt


PromptText = Annotated[str, Field(min_length=1, max_length=4_000), AfterValidator(_not_blank)]


class LlmJudgeEnvironment(EnvironmentOptions):
    """Open questions; a judge scores each answer by a rubric, 0 to 1."""

    grader_options: ClassVar[frozenset[str]] = frozenset(
        {"model", "base_url", "headers", "sampling_params", "rubric"}
    )

    type: Literal["llm_judge"]
    model: JudgeName | None = Field(default=None, exclude_if=is_absent)
    """Name of the judge: a model of this service, or of the server at `base_url`. Required where
    the job has no other `grader`."""
    base_url: JudgeBaseUrl | None = Field(default=None, exclude_if=is_absent)
    """The customer's own OpenAI-compatible server, e.g. `https://api.example/v1`."""
    headers: SecretHeaders | None = Field(default=None, exclude_if=is_absent)
    """Headers for `base_url` alone."""
    sampling_params: JudgeSampling | None = Field(default=None, exclude_if=is_absent)
    """Sampling of the judge."""
    rubric: Rubric = DEFAULT_RUBRIC
    """The criteria of the judge and their weights."""
    prompts: tuple[PromptText, ...] | None = Field(
        default=None, min_length=20, max_length=MAX_PROMPTS, exclude_if=is_absent
    )
    """The questions to draw from, all different; absent: questions of this service."""

    @field_validator("prompts")
    @classmethod
    def _differ(cls, prompts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if prompts is not None and len({prompt.strip() for prompt in prompts}) < len(prompts):
            raise PydanticCustomError(
                "environment_error",
                "a prompt occurs twice, so a held-out task could be a training task",
            )
        return prompts

    @model_validator(mode="after")
    def _headers_have_an_address(self) -> Self:
        check_headers(self.headers, self.base_url)
        return self

    @property
    @override
    def missing_option(self) -> str | None:
        return "model" if self.model is None else None

    @property
    def problems(self) -> int:
        return TASKS if self.prompts is None else len(self.prompts)

    def row(self, number: int) -> dict[str, Any]:
        question = writing_task(number) if self.prompts is None else self.prompts[number]
        return {"messages": [{"role": "user", "content": question}], "question": question}

    def grader(self) -> dict[str, Any]:
        judge = {
            "type": "llm_judge",
            "model": self.model,
            "question": "{{item.question}}",
            "rubric": [criterion.model_dump(mode="json") for criterion in self.rubric],
            "base_url": self.base_url,
            "headers": self.headers,
            "sampling_params": None
            if self.sampling_params is None
            else self.sampling_params.model_dump(mode="json", exclude_none=True),
        }
        return {key: value for key, value in judge.items() if value is not None}
