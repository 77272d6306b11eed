"""`arithmetic`: sums, differences and products of random whole numbers.

Problems are numbered, so that their total is known and none occurs twice.
"""

from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from app.domain.environments.options import EnvironmentOptions
from app.domain.environments.task_numbers import task_digits
from app.domain.graders.choice.choice_sources import last_number_source
from app.domain.graders.grader_model import fault_at

Operation = Literal["add", "subtract", "multiply"]
_SIGNS: Final[dict[str, str]] = {"add": "+", "subtract": "-", "multiply": "*"}
_ANSWER_LINE: Final = r"(?m)^Answer: [+-]?[0-9][0-9,.]*\s*\z"
_PROMPT: Final = (
    "Compute {expression}. End with a line of the form 'Answer: N', where N is the result."
)


class ArithmeticEnvironment(EnvironmentOptions):
    """Random arithmetic; an answer earns 1 if its last number is the result, else 0."""

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
        """Returns the row of a problem, by its number."""
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
            "source": last_number_source("answer"),
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
    """Returns the value of the numbers joined by the operations, products first."""
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
