"""Scores the needles that a text contains."""

from typing import Literal, assert_never

from pydantic import Field, field_validator
from typing_extensions import override

from app.graders.grader_model import ANSWER, MAX_PARTS, Flag, TemplateText, UnitGrader, fault_at
from app.graders.scorer import GradingPorts, Scorer, ScoreResult
from app.graders.text_scorer import TextScorer


class ContainsGrader(UnitGrader):
    """1 when a text contains any or all of the needles; or the share of needles that it
    contains.
    """

    type: Literal["contains"]
    name: str = Field(default="contains", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is searched."""
    needles: list[TemplateText] = Field(min_length=1, max_length=MAX_PARTS)
    """Templates of the texts that are looked for; an empty one is never found."""
    match: Literal["any", "all", "share"] = "all"
    """`any`, `all`: 1 if any or all needles are found; `share`: the share of found needles."""
    ignore_case: Flag = False
    """True ignores case, by Unicode case folding."""

    @field_validator("needles")
    @classmethod
    def _can_be_found(cls, needles: list[str]) -> list[str]:
        empty = next((at for at, needle in enumerate(needles) if not needle), None)
        if empty is not None:
            raise fault_at(empty, "it is empty, and an empty text is never found")
        return needles

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return ContainsScorer(self, [self.input, *self.needles], source=source)


class ContainsScorer(TextScorer[ContainsGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        text, *needles = [each.casefold() for each in texts] if self._spec.ignore_case else texts
        found = [needle != "" and needle in text for needle in needles]
        share = sum(found) / len(found)
        reason = f"{sum(found)} of {len(found)} needles are in the text"
        return ScoreResult(self._score(share), sub_scores={"found": share}, reason=reason)

    def _score(self, share: float) -> float:
        match self._spec.match:
            case "any":
                return float(share > 0)
            case "all":
                return float(share == 1)
            case "share":
                return share
            case _:
                assert_never(self._spec.match)
