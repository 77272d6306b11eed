"""Scores a text that matches a regular expression with 1, and any other with 0."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import ANSWER, Flag, TemplateText, UnitGrader
from app.graders.json_schemas import (
    MAX_PATTERN,
    JsonSchemaFault,
    TooMuchWork,
    check_pattern,
    matches,
)
from app.graders.scorer import GradingPorts, Scorer, ScoreResult, unusable_grader
from app.graders.templates import placeholder_in
from app.graders.text_scorer import TextScorer, unreadable


class RegexGrader(UnitGrader):
    """1 when the text matches the expression, else 0."""

    type: Literal["regex"]
    name: str = Field(default="regex", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    pattern: str = Field(min_length=1, max_length=MAX_PATTERN)
    """The expression, in the syntax of Rust's `regex` without look-around and back-references;
    `\\d` and `\\w` are ASCII, as in JavaScript. Not a template.
    """
    whole: Flag = False
    """True: the whole text must match, not only a part of it."""
    ignore_case: Flag = False
    """True ignores case."""

    @field_validator("pattern")
    @classmethod
    def _is_no_template(cls, pattern: str) -> str:
        found = placeholder_in(pattern)
        if found is not None:
            fault = (
                f"'{found}' is not filled, because the pattern is not a template: a grader of type "
                "'contains' or 'string_check' compares with a value of the row"
            )
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return pattern

    @property
    @override
    def compiled_field(self) -> str | None:
        return "pattern"

    @override
    def check_compiled(self) -> None:
        check_pattern(self.pattern, whole=self.whole, ignore_case=self.ignore_case)

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return RegexScorer(self, [self.input], source=source)


class RegexScorer(TextScorer[RegexGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        spec = self._spec
        try:
            text.encode()
            found = matches(spec.pattern, text, whole=spec.whole, ignore_case=spec.ignore_case)
        except UnicodeEncodeError:
            return unreadable("the text has half of a surrogate pair")
        except JsonSchemaFault as fault:
            raise unusable_grader(str(fault), source=self._source) from None
        except TooMuchWork as fault:
            return unreadable(str(fault))
        return ScoreResult(
            float(found), reason=f"the text {'matches' if found else 'does not match'}"
        )
