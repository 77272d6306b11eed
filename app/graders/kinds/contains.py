"""Scores the needles that a text contains."""

from typing import assert_never

from typing_extensions import override

from app.graders.scorer import ScoreResult
from app.graders.text_definitions import ContainsGrader
from app.graders.text_scorer import TextScorer


class ContainsScorer(TextScorer):
    def __init__(self, spec: ContainsGrader, *, source: str) -> None:
        super().__init__([spec.input, *spec.needles], source=source)
        self._match = spec.match
        self._ignore_case = spec.ignore_case

    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        text, *needles = [each.casefold() for each in texts] if self._ignore_case else texts
        found = [needle != "" and needle in text for needle in needles]
        share = sum(found) / len(found)
        reason = f"{sum(found)} of {len(found)} needles are in the text"
        return ScoreResult(self._score(share), sub_scores={"found": share}, reason=reason)

    def _score(self, share: float) -> float:
        match self._match:
            case "any":
                return float(share > 0)
            case "all":
                return float(share == 1)
            case "share":
                return share
            case _:
                assert_never(self._match)
