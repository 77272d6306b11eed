"""Runs the model's code against the tests of its row; the score is the share that passes. Expected
values never enter the sandbox, where the code could read them. Code that fails counts as a failed
test; a row without tests, or no sandbox, gives no score.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, Literal, assert_never

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.answer_words import after_thinking
from app.graders.grader_model import ANSWER, RowRule, TemplateText, UnitGrader, fault_at, fault_of
from app.graders.kinds.python import (
    NO_FUNCTION,
    ArgumentsTooLarge,
    CallTest,
    CodeTest,
    ProgramFailed,
    RunTest,
    TestsFault,
    code_tests,
    is_function_name,
    run_program,
)
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    run_on_scoring_thread,
)
from app.graders.templates import (
    Placeholder,
    Template,
    Unrenderable,
    parse_template,
    render,
    unusable_text_fault,
)
from app.graders.texts import TooManyFences, check_fences, fenced_blocks, unreadable
from app.tools.programs import FunctionCall, Program, Script
from app.tools.sandbox import Sandbox

_TESTS = "{{item.tests}}"


class CodeExecutionGrader(UnitGrader):
    """The share of tests that the model's Python code passes; it runs in the sandbox."""

    type: Literal["code_execution"]
    name: str = Field(default="code_execution", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the code: the last Markdown block labelled as Python in it, else the last one
    without a label, else the whole text."""
    function: TemplateText | None = Field(default=None, exclude_if=lambda value: value is None)
    """Template of the name of the function that tests call; without it they run the whole program.
    """
    tests: TemplateText = _TESTS
    """Template of the tests as JSON: a list of `{"arguments", "expected"}` for a function, of
    `{"stdin", "stdout"}` for a program."""

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

    repeats_its_scores: ClassVar[bool] = False

    @property
    @override
    def row_rules(self) -> Mapping[str, RowRule]:
        of = "a program" if self.function is None else "a function"
        tests = partial(code_tests, with_function=self.function is not None)
        rules = {"tests": RowRule(f"tests of {of}", partial(fault_of, tests, TestsFault))}
        if self.function is not None:
            rules["function"] = RowRule("the name of a function", _name_fault)
        return rules

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return CodeExecutionScorer(self, ports.sandbox, source=source)


def _name_fault(text: str) -> str | None:
    return None if is_function_name(text) else NO_FUNCTION


def _is_literal(template: str) -> bool:
    return not any(isinstance(part, Placeholder) for part in parse_template(template).parts)


MAX_CODE: Final = 262_144
MOST_TIME_OUTS: Final = 3
MOST_SECONDS: Final = 60.0
_PYTHON: Final = re.compile(r"\{?\.?(?:py|python)3?(?![A-Za-z0-9+#_-])", re.IGNORECASE)
"""The language at the beginning of a label, such as `python:main.py` or `{.python}`."""
_TOLERANCE: Final = 1e-9
_HALF: Final = Fraction(1, 2)


class CodeExecutionScorer:
    def __init__(self, spec: CodeExecutionGrader, sandbox: Sandbox, *, source: str) -> None:
        self._sandbox = sandbox
        self._source = source
        self._input = parse_template(spec.input)
        self._tests = parse_template(spec.tests)
        self._function = None if spec.function is None else parse_template(spec.function)

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            tests, function, code = await run_on_scoring_thread(partial(self._read, request))
            if not code.strip():
                return unreadable("there is no code")
            if len(code) > MAX_CODE:
                return unreadable(f"the code has more than {MAX_CODE} characters")
            return await self._run(code, function, tests)
        except Unrenderable as fault:
            return fault.result

    def _read(self, request: GradeRequest) -> tuple[list[CodeTest], str | None, str]:
        function = None
        if self._function is not None:
            function = render(self._function, request, source=self._source)
            if not is_function_name(function):
                raise self._blamed(self._function, NO_FUNCTION)
            function = unicodedata.normalize("NFKC", function)  # as Python does with names
        try:
            text = render(self._tests, request, source=self._source)
            tests = code_tests(text, with_function=function is not None)
            return tests, function, code_of(render(self._input, request, source=self._source))
        except TestsFault as fault:
            raise self._blamed(self._tests, str(fault)) from None
        except TooManyFences as many:
            raise Unrenderable(GraderErrors(sample_parse_error=True, details=str(many))) from None

    def _blamed(self, template: Template, message: str) -> Unrenderable | ScoreFault:
        errors = GraderErrors(sample_parse_error=True, details=message)
        return unusable_text_fault([template], errors, source=self._source)

    async def _run(self, code: str, function: str | None, tests: list[CodeTest]) -> ScoreResult:
        """Runs the tests in turn: each is short, and other rollouts wait for slots."""
        passed, time_outs, elapsed_s, first = 0, 0, 0.0, ""
        for number, test in enumerate(tests):
            fault: str | None
            if time_outs == MOST_TIME_OUTS:
                fault = f"not run after {time_outs} time-outs"
            elif elapsed_s >= MOST_SECONDS:
                fault = f"not run, because those before it took {MOST_SECONDS:g} s"
            else:
                program: Program = (
                    FunctionCall(code, function or "", test.arguments)
                    if isinstance(test, CallTest)
                    else Script(code, test.stdin)
                )
                try:
                    result = await run_program(self._sandbox, program, source=self._source)
                    elapsed_s += result.elapsed_s
                    fault = await run_on_scoring_thread(partial(_difference, result.value, test))
                except ProgramFailed as failed:
                    elapsed_s += failed.elapsed_s
                    time_outs += failed.timed_out
                    fault = str(failed)
                except ArgumentsTooLarge as large:
                    raise self._blamed(self._tests, f"test {number} is {large}") from None
            passed += fault is None
            first = first or (f"; test {number}: {fault}" if fault is not None else "")
        return ScoreResult(
            passed / len(tests),
            sub_scores={"passed": float(passed), "tests": float(len(tests))},
            reason=f"{passed} of {len(tests)} tests passed{first}",
            execution_time_s=elapsed_s,
        )


def code_of(text: str) -> str:
    """Returns the last Markdown block labelled as Python, else the last unlabelled one, which is
    mostly output, else the text. Leading reasoning is skipped. Raises `TooManyFences`.
    """
    text = after_thinking(text)
    check_fences(text)
    blocks = fenced_blocks(text, with_open=True)
    labelled = [block.text for block in blocks if _PYTHON.match(block.label)]
    found = labelled or [block.text for block in blocks if not block.label]
    return found[-1] if found else text


def _difference(value: Any, test: CodeTest) -> str | None:
    match test:
        case CallTest():
            try:
                same = equal(value, test.expected)
            except RecursionError:
                return "a result that is nested too deeply to be compared"
        case RunTest():
            same = isinstance(value, str) and _same_print(value, test.stdout)
        case _:
            assert_never(test)
    return None if same else "another result than the expected one"


def equal(value: Any, expected: Any) -> bool:
    """Compares as JSON: 2.0 equals 2, true does not equal 1, floats differ by 1e-9 at most."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return value == expected or _close(value, expected)
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(equal, value, expected))
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(
            equal(below, expected[key]) for key, below in value.items()
        )
    return type(value) is type(expected) and bool(value == expected)


def _close(value: float, expected: float) -> bool:
    if isinstance(value, int) and isinstance(expected, int):
        return False
    try:
        # Exactly: a difference of floats would round 2**53 and 2**53 + 1 to the same number.
        if isinstance(expected, int) and abs(Fraction(value) - expected) >= _HALF:
            return False
        return math.isclose(float(value), float(expected), rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except (OverflowError, ValueError):  # an integer that no float can express, infinity, NaN
        return False


_SEPARATORS: Final = re.compile(r"([\s,;:=()\[\]{}]+)")
_PRINTED: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]{0,999})(?:\.[0-9]{0,999})?|\.[0-9]{1,999})(?:[eE][+-]?[0-9]{1,3})?"
)
"""A number as a program prints it. `007` is none: its zeros may be what the task asks for."""


def _same_print(text: str, expected: str) -> bool:
    """Compares lines as text, or else token by token, where `equal` compares the numbers."""
    lines, wanted = _lines(text), _lines(expected)
    return len(lines) == len(wanted) and all(map(_same_line, lines, wanted))


def _same_line(line: str, expected: str) -> bool:
    if line == expected:
        return True
    tokens, wanted = map(_SEPARATORS.split, (line, expected))
    return len(tokens) == len(wanted) and all(map(_same_token, tokens, wanted))


def _same_token(token: str, expected: str) -> bool:
    if token == expected:
        return True
    numbers = _PRINTED.fullmatch(token) and _PRINTED.fullmatch(expected)
    return bool(numbers) and equal(_printed(token), _printed(expected))


def _printed(token: str) -> float:
    return int(token) if token.lstrip("+-").isdigit() else float(token)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines
