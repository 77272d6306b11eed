"""`code_execution`: runs code that the model wrote against the tests of its row."""

from typing import Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.grader_model import ANSWER, UnitGrader, fault_at
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.templates.templates import Placeholder, parse_template
from app.domain.graders.texts.code_tests import TestsFault, code_tests, is_function_name

_TESTS = "{{item.tests}}"


class CodeExecutionGrader(UnitGrader):
    """The share of tests that the model's Python code passes; it runs in the sandbox."""

    type: Literal["code_execution"]
    name: str = Field(default="code_execution", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the code: the last Markdown block labelled as Python in it, else the last one
    without a label, else the whole text.
    """
    function: TemplateText | None = Field(default=None, exclude_if=lambda value: value is None)
    """Template of the name of the function that tests call; without it they run the whole program.
    """
    tests: TemplateText = _TESTS
    """Template of the tests as JSON: a list of `{"arguments", "expected"}` for a function, of
    `{"stdin", "stdout"}` for a program.
    """

    @field_validator("function")
    @classmethod
    def _is_a_name(cls, function: str | None) -> str | None:
        if function is not None and _is_literal(function) and not is_function_name(function):
            raise PydanticCustomError(
                "function_error", "it must be the name of a function, and no keyword"
            )
        return function

    @model_validator(mode="after")
    def _literal_tests_are_tests(self) -> "CodeExecutionGrader":
        if _is_literal(self.tests):
            try:
                code_tests(self.tests, with_function=self.function is not None)
            except TestsFault as fault:
                raise fault_at("tests", str(fault)) from None
        return self

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return False


def _is_literal(template: str) -> bool:
    return not any(isinstance(part, Placeholder) for part in parse_template(template).parts)
