"""`gsm8k`: word problems of school mathematics with a chain of thought.

Reads rows in the format of the public data set: a `question`, and an `answer` whose last line is
`#### N`. Without a file the tasks are this project's own word problems. Must not know files.
"""

from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from app.domain.environments.options import EnvironmentOptions
from app.domain.environments.word_problems import MAX_STEPS, problem, problem_count
from app.domain.graders.choice.choice_sources import last_number_source
from app.domain.graders.grader_model import fault_at
from app.domain.graders.texts.numerals import is_number

MARK: Final = "####"
PROBLEM_COLUMNS: Final = ("question", "answer")
_PROMPT: Final = (
    "{question}\n\nThink step by step. End with a line of the form '#### N', where N is the answer."
)


class UnreadableProblem(ValueError):
    """A row that is not a problem in this format. The text is for its author."""


class Gsm8kEnvironment(EnvironmentOptions):
    """Word problems; an answer earns 1 if its last number is the reference's, else 0."""

    type: Literal["gsm8k"]
    file: str | None = Field(
        default=None, min_length=1, max_length=256, exclude_if=lambda value: value is None
    )
    """Id of a JSONL or Parquet file with `question` and `answer` in each row, as in the public data
    set; its problems are used in an order drawn from the seed. Absent: word problems of this
    service.
    """
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
        """The number of the service's own problems."""
        return problem_count(self.max_steps)

    def row(self, number: int) -> dict[str, Any]:
        """Returns the row of one of the service's own problems."""
        solved = problem(number, self.max_steps)
        answer = "\n".join((*solved.steps, f"{MARK} {solved.answer}"))
        return row_of({"question": solved.question, "answer": answer})

    def grader(self) -> dict[str, Any]:
        return {"type": "python", "name": "gsm8k", "source": last_number_source("answer")}


def row_of(sent: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a problem in the public form. Raises `UnreadableProblem`."""
    question, solution = map(sent.get, PROBLEM_COLUMNS)
    if not isinstance(question, str) or not question.strip():
        raise UnreadableProblem("'question' must be a text")
    if not isinstance(solution, str) or MARK not in solution:
        raise UnreadableProblem(f"'answer' must be a text that ends with '{MARK} N'")
    worked, _, final = solution.rpartition(MARK)
    if not is_number(final.strip()):
        raise UnreadableProblem(f"what follows '{MARK}' in 'answer' is not a number")
    return {
        "messages": [{"role": "user", "content": _PROMPT.format(question=question.strip())}],
        "question": question,
        "solution": worked.strip(),
        "answer": final.strip(),
    }
