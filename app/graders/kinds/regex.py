"""Scores a text that matches a regular expression with 1, and any other with 0."""

from typing_extensions import override

from app.graders.json_schemas import JsonSchemaFault, TooMuchWork, matches
from app.graders.scorer import ScoreResult, unusable_grader
from app.graders.text_definitions import RegexGrader
from app.graders.text_scorer import TextScorer, unreadable


class RegexScorer(TextScorer):
    def __init__(self, spec: RegexGrader, *, source: str) -> None:
        super().__init__([spec.input], source=source)
        self._spec = spec

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
