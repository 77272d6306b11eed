"""Scores the comparison of two texts with 1 or 0."""

from typing_extensions import override

from app.graders.scorer import ScoreResult
from app.graders.text_definitions import StringCheckGrader
from app.graders.text_scorer import TextScorer


class StringCheckScorer(TextScorer):
    def __init__(self, spec: StringCheckGrader, *, source: str) -> None:
        super().__init__([spec.input, spec.reference], source=source)
        self._operation = spec.operation

    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        left, right = texts
        return ScoreResult(float(compare(self._operation, left, right)))


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
