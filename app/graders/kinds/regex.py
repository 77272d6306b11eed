"""Scores a text that matches a regular expression with 1, and any other with 0."""

from typing_extensions import override

from app.graders.json_schemas import TooMuchWork, compile_pattern
from app.graders.scorer import ScoreResult
from app.graders.text_definitions import RegexGrader
from app.graders.text_scorer import TextScorer, unreadable


class RegexScorer(TextScorer):
    def __init__(self, spec: RegexGrader, *, source: str) -> None:
        super().__init__([spec.input], source=source)
        self._pattern = compile_pattern(
            spec.pattern, whole=spec.whole, ignore_case=spec.ignore_case
        )

    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        try:
            matches = self._pattern.matches(text)
        except UnicodeEncodeError:
            return unreadable("the text has half of a surrogate pair")
        except TooMuchWork as fault:
            return unreadable(str(fault))
        reason = "the text matches" if matches else "the text does not match"
        return ScoreResult(float(matches), reason=reason)
