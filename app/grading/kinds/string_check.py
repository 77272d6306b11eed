"""Scores the comparison of two texts with 1 or 0."""

from app.domain.graders.kinds.string_check import StringCheckGrader
from app.domain.graders.templates.templates import parse_template
from app.grading.scorer import GradeRequest, ScoreResult
from app.grading.texts.templating import Unrenderable, render_all


class StringCheckScorer:
    """Implements `Scorer`."""

    def __init__(self, spec: StringCheckGrader, *, source: str) -> None:
        self._source = source
        self._operation = spec.operation
        self._templates = [parse_template(text) for text in (spec.input, spec.reference)]

    async def score(self, request: GradeRequest) -> ScoreResult:
        try:
            left, right = render_all(self._templates, request, source=self._source)
        except Unrenderable as fault:
            return fault.result
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
