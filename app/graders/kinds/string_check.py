"""Scores the comparison of two texts with 1 or 0."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from app.graders.grader_model import TemplateText, UnitGrader, fault_at
from app.graders.scorer import GradingPorts, Scorer, ScoreResult
from app.graders.text_scorer import TextScorer


class StringCheckGrader(UnitGrader):
    """A comparison of two texts: 1 when it holds, else 0."""

    passing_score: ClassVar[float | None] = 1.0
    type: Literal["string_check"]
    name: str = Field(default="string_check", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is checked, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    operation: Literal["eq", "ne", "neq", "like", "ilike"]
    """`like`: input contains reference; `ilike` ignores case; `neq` is `ne`."""

    @model_validator(mode="after")
    def _compares_with_a_text(self) -> Self:
        if not self.reference and self.operation in ("like", "ilike"):
            raise fault_at("reference", "it is empty, and every text contains an empty one")
        return self

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return StringCheckScorer(self, [self.input, self.reference], source=source)


class StringCheckScorer(TextScorer[StringCheckGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        left, right = texts
        return ScoreResult(float(compare(self._spec.operation, left, right)))


def compare(operation: str, text: str, reference: str) -> bool:
    """Compares two texts; `ilike` uses Unicode case folding, so `STRASSE` matches `straße`."""
    match operation:
        case "eq":
            return text == reference
        case "ne" | "neq":
            return text != reference
        case "like":
            return reference in text
        case "ilike":
            return reference.casefold() in text.casefold()
        case _:
            raise ValueError(operation)
