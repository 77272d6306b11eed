"""Texts that graders read from the row alone, and the rules for these texts.

If a row breaks a rule, no answer to it can be graded. The fault is therefore reported before the
job is paid for, and a rollout of the row is lost and never scored 0. Pure.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, assert_never

from app.graders.answer_words import LONG_RUN, has_long_run_of_marks
from app.graders.calls import ReferenceFault, expected_calls
from app.graders.definitions import AnyGrader, MultiGrader
from app.graders.endpoint_definitions import (
    CodeExecutionGrader,
    EndpointGrader,
    EnvironmentGrader,
    ToolCallGrader,
)
from app.graders.model_definitions import (
    AiJudgeGrader,
    LabelModelGrader,
    LlmJudgeGrader,
    ScoreModelGrader,
)
from app.graders.program_definitions import PythonGrader
from app.graders.python_source import (
    NO_FUNCTION,
    TestsFault,
    code_tests,
    is_function_name,
)
from app.graders.templates import (
    MissingVariable,
    RenderedTooLong,
    Template,
    parse_template,
    too_long,
)
from app.graders.text_definitions import (
    ContainsGrader,
    ExactMatchGrader,
    FormatGrader,
    JsonValidGrader,
    LengthBoundsGrader,
    RegexGrader,
    StringCheckGrader,
    TextSimilarityGrader,
)
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter


class ReadingRule(Enum):
    CALLS = "expected calls"
    FUNCTION = "the name of a function"
    FUNCTION_TESTS = "tests of a function"
    PROGRAM_TESTS = "tests of a program"
    COMPARED = "a text to compare with"
    NORMALISED = "a text to normalise"


@dataclass(frozen=True, slots=True)
class RowReading:
    """A template that depends on the row only."""

    param: str
    template: Template
    rule: ReadingRule
    limit: int = 0
    """Largest number of characters of a text to compare with."""

    def fault(self, item: Mapping[str, Any]) -> str | None:
        """Returns why the row's text cannot be used. A missing key is not reported here."""
        try:
            return self._fault_of(self.template.render(sample={}, item=item))
        except MissingVariable:
            return None
        except RenderedTooLong as error:
            return str(error)

    def _fault_of(self, text: str) -> str | None:
        match self.rule:
            case ReadingRule.CALLS:
                return _parse_fault(expected_calls, text)
            case ReadingRule.FUNCTION_TESTS:
                return _parse_fault(partial(code_tests, with_function=True), text)
            case ReadingRule.PROGRAM_TESTS:
                return _parse_fault(partial(code_tests, with_function=False), text)
            case ReadingRule.FUNCTION:
                return None if is_function_name(text) else NO_FUNCTION
            case ReadingRule.COMPARED:
                return too_long(self.limit) if len(text) > self.limit else None
            case ReadingRule.NORMALISED:
                return LONG_RUN if has_long_run_of_marks(text) else None
            case _:
                assert_never(self.rule)


def row_readings(grader: AnyGrader, root: str) -> Iterator[RowReading]:
    """Yields the readings of a grader, or of the used parts of a `multi`, including literal
    texts.
    """
    for path, text, rule, limit in _readings(grader, ()):
        template = parse_template(text)
        if not template.reads_sample:
            yield RowReading(parameter(root, path), template, rule, limit)


def literal_faults(grader: AnyGrader, root: str) -> Iterator[InvalidRequest]:
    """Yields the faults of texts without placeholders, which concern every row."""
    for reading in row_readings(grader, root):
        if not reading.template.placeholders and (fault := reading.fault({})) is not None:
            yield refused_value(reading.param, fault)


def _readings(grader: AnyGrader, path: Path) -> Iterator[tuple[Path, str, ReadingRule, int]]:
    match grader:
        case MultiGrader():
            for name, child in grader.parts.items():
                yield from _readings(child, (*path, "graders", name))
        case ToolCallGrader():
            yield (*path, "reference"), grader.reference, ReadingRule.CALLS, 0
        case CodeExecutionGrader():
            rule = (
                ReadingRule.PROGRAM_TESTS if grader.function is None else ReadingRule.FUNCTION_TESTS
            )
            yield (*path, "tests"), grader.tests, rule, 0
            if grader.function is not None:
                yield (*path, "function"), grader.function, ReadingRule.FUNCTION, 0
        case TextSimilarityGrader():
            yield (*path, "input"), grader.input, ReadingRule.COMPARED, grader.longest_reference
            yield (
                (*path, "reference"),
                grader.reference,
                ReadingRule.COMPARED,
                grader.longest_reference,
            )
        case ExactMatchGrader():
            if grader.unicode != "none":
                yield (*path, "input"), grader.input, ReadingRule.NORMALISED, 0
                yield (*path, "reference"), grader.reference, ReadingRule.NORMALISED, 0
        case (
            StringCheckGrader()
            | ContainsGrader()
            | JsonValidGrader()
            | RegexGrader()
            | FormatGrader()
            | LengthBoundsGrader()
            | PythonGrader()
            | ScoreModelGrader()
            | LabelModelGrader()
            | AiJudgeGrader()
            | LlmJudgeGrader()
            | EndpointGrader()
            | EnvironmentGrader()
        ):
            return  # they can use any text
        case _:
            assert_never(grader)


def _parse_fault(parse: Callable[[str], object], text: str) -> str | None:
    try:
        parse(text)
    except (ReferenceFault, TestsFault) as fault:
        return str(fault)
    return None
