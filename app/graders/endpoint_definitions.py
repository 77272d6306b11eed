"""`endpoint`: the customer's own HTTP grader. Source: the Agent RFT alpha."""

from typing import Annotated, ClassVar, Literal, assert_never

from pydantic import Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.calls import ReferenceFault, expected_calls
from app.graders.grader_model import ANSWER, MAX_PARTS, Flag, GraderModel, UnitGrader, fault_at
from app.graders.judge_prompts import TemplateText
from app.graders.python_source import TestsFault, code_tests, is_function_name
from app.graders.templates import Placeholder, parse_template
from app.kit.fields import CustomerUrl, SecretHeaders
from app.tools.tools import RateLimit


class EndpointGrader(GraderModel):
    """The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`."""

    type: Literal["endpoint"]
    url: CustomerUrl
    """Address that samples are sent to."""
    name: str = Field(default="endpoint", min_length=1, max_length=256)
    headers: SecretHeaders | None = None
    """Headers sent with every request; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Requests per second this job may send to it."""
    pass_threshold: float | None = Field(default=None, strict=True)

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True


class EnvironmentGrader(GraderModel):
    """The sum of the rewards that the job's HTTP environment gave in a rollout's steps."""

    needs_environment: ClassVar[bool] = True

    type: Literal["environment"]
    name: str = Field(default="environment", min_length=1, max_length=256)

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True


Comparator = Literal["exact", "ignore_case", "number", "contains", "unordered", "any"]
ArgumentName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class ToolCallGrader(UnitGrader):
    """Mean over the expected calls: 0 without the call, 0.3 for the right function, 0.6 with some
    of the arguments, 1 with all of them and no others.
    """

    type: Literal["tool_call"]
    name: str = Field(default="tool_call", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text from which calls are read if the rollout has no structured ones."""
    reference: TemplateText
    """Template of the expected calls as JSON, `{"name", "arguments"}` or a list of them; an empty
    list expects no call.
    """
    source: Literal["auto", "rollout", "last_turn", "text"] = "auto"
    """Source of the calls: the whole rollout, its last turn, or the text. `auto`: the rollout, or
    the text if the rollout has none.
    """
    ordered: Flag = False
    """True: calls count only in the order of the reference."""
    extra_calls: Literal["allow", "count"] = "allow"
    """`count`: an unexpected call lowers the mean like an expected call that scores 0."""
    comparators: dict[ArgumentName, Comparator] = Field(default_factory=dict, max_length=MAX_PARTS)
    """Comparison of single arguments, by name; `exact` for all others. `number` compares values,
    `contains` looks for the expected text, `unordered` compares lists as sets, `any` accepts every
    value, even a missing one.
    """

    @field_validator("reference")
    @classmethod
    def _literal_holds_calls(cls, reference: str) -> str:
        """Refuses a reference without placeholders that contains no readable calls."""
        if not any(isinstance(part, Placeholder) for part in parse_template(reference).parts):
            try:
                expected_calls(reference)
            except ReferenceFault as fault:
                raise PydanticCustomError(
                    "reference_error", "{fault}", {"fault": str(fault)}
                ) from None
        return reference

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return self.source != "text"

    @property
    @override
    def parts_read_by_nature(self) -> tuple[str, ...]:
        match self.source:
            case "text":
                return ()
            case "last_turn":
                return ("output_tools",)
            case "auto" | "rollout":
                return ("tool_calls",)
            case _:
                assert_never(self.source)


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
