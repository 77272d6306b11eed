"""Reads the scores that a judge writes in words, as shares of a scale.

Where scores in one form differ, the one at a word for the whole counts, such as `overall`, else the
lowest; beside several criteria none, because each may be that of a criterion. The bounds of a scale
are no scores, nor is, beside other criteria, the score of one. Pure.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.domain.graders.kinds.llm_judge import Criterion
from app.grading.texts.json_in_text import texts_in
from app.grading.texts.judge_answers import RAISED, UnreadableAnswer
from app.grading.texts.long_texts import matches_in
from app.grading.texts.quotable_scores import comparable
from app.grading.texts.score_words import (
    AGAIN,
    BEFORE,
    BOUNDS,
    BRACKETS,
    CORRECTED,
    LABEL,
    NAMED,
    NUMBER,
    OF,
    SHARE,
    is_overall,
    stands_before,
)

SPELLINGS: Final = (BRACKETS, LABEL, SHARE)
"""The forms of a score, in the order in which they are tried."""
BEHIND: Final = (BRACKETS, AGAIN, CORRECTED)
"""The forms of a score by which words behind a JSON object correct it."""
_FORMS: Final = {AGAIN: LABEL, CORRECTED: SHARE}
"""The form of a score within a form of correction."""
_OF_THE_WHOLE: Final = frozenset({"overall", "total", "final", "score", "rating", "grade"})
"""Names of criteria that stand for the whole answer too."""
_IN_LINE: Final = r"[ \t*_`\"']{0,6}"
_READ: Final = 200_000
"""Number of final characters of an answer that are searched."""
_DIFFERENT: Final = "the judge's answer has several scores that differ, and none is the overall one"


@dataclass(frozen=True, slots=True)
class _Criteria:
    """The criteria of a rubric that has several."""

    number: int
    scored: re.Pattern[str]
    """A score behind the name of a criterion."""
    heading: re.Pattern[str]
    """A line that begins with the name of a criterion."""


class ScoresInWords:
    def __init__(self, scale: float, rubric: Sequence[Criterion]) -> None:
        self._scale = scale
        self._criteria = _named_criteria(rubric)

    def are_several(self, text: str) -> bool:
        """Returns whether a text has scores that differ, in any form."""
        found = (each for form in SPELLINGS for each in matches_in(form, text))
        return len({comparable(self._share(each)) for each in found}) > 1

    def shares(
        self,
        words: str,
        forms: tuple[re.Pattern[str], ...],
        judged: Any = None,
        quotable: frozenset[float] = frozenset(),
    ) -> Iterator[float]:
        """Yields the score in each form, without those that `judged` has in the same form and
        those in `quotable`: they may be quotations.
        """
        text, is_of_one = BOUNDS.sub(" ", words[-_READ:]), False
        if self._criteria is not None:
            removed = {one["name"].casefold() for one in self._criteria.scored.finditer(text)}
            is_of_one = 0 < len(removed) < self._criteria.number
            text = self._criteria.scored.sub(" ", text)
        for pattern in forms:
            found = list(matches_in(pattern, text))
            if found and judged is not None:
                quoted = quotable | self._shares_in(judged, _FORMS.get(pattern, pattern))
                found = self._own(found, quoted)
            if pattern is CORRECTED:
                found = [each for each in found if float(each[2]) == self._scale]
            elif pattern is SHARE and self._criteria is not None:
                found = self._of_the_whole(found, by_words_only=is_of_one)
            elif self._criteria is not None and self._is_headed(found, self._criteria.heading):
                found = []
            if found:
                kept = found if pattern is CORRECTED else self._of_one_value(found)
                yield self._share(kept[-1])

    def whole(self, shares: Sequence[float]) -> float:
        """Returns the score of the whole answer from those of its forms: the lowest with one
        criterion. Raises `UnreadableAnswer` for different ones beside several criteria.
        """
        if self._criteria is not None and len(set(map(comparable, shares))) > 1:
            raise UnreadableAnswer(_DIFFERENT)
        return min(shares)

    def _own(self, found: list[re.Match[str]], quoted: frozenset[float]) -> list[re.Match[str]]:
        """Returns the scores that are no quotations. Raises `UnreadableAnswer` for one that is
        better than a quotation.
        """
        shares = [comparable(self._share(each)) for each in found]
        own = [each for each, share in zip(found, shares, strict=True) if share not in quoted]
        least = min((share for share in shares if share in quoted), default=math.inf)
        if own and self._share(own[-1]) > least:
            raise UnreadableAnswer(RAISED)
        return own

    def _shares_in(self, judged: Any, form: re.Pattern[str]) -> frozenset[float]:
        found = (each for text in texts_in(judged) for each in matches_in(form, text))
        return frozenset(comparable(self._share(each)) for each in found)

    def _is_headed(self, found: list[re.Match[str]], heading: re.Pattern[str]) -> bool:
        """Returns whether the last of several scores stands under the heading of a criterion."""
        if len({self._share(each) for each in found}) <= 1:
            return False
        before, last = found[-2:]
        headed = heading.search(last.string, before.end(), last.start()) is not None
        return headed and not stands_before(BEFORE, last)

    def _of_the_whole(
        self, found: list[re.Match[str]], *, by_words_only: bool
    ) -> list[re.Match[str]]:
        """Returns the bare shares of the whole answer: those at words for the whole, else those
        that begin a sentence, else all; none where they differ, as the scores of criteria do.
        """
        overall = [each for each in found if is_overall(each)]
        named = overall or [each for each in found if stands_before(NAMED, each)]
        alike = named or ([] if by_words_only else found)
        return alike if self._is_of_one_value(alike) else []

    def _of_one_value(self, found: list[re.Match[str]]) -> list[re.Match[str]]:
        """Returns the scores; of those that differ the one at words for the whole answer, else the
        lowest: a better one may be a quotation. Beside several criteria, one of which the lowest
        may score, it is the one that no line of a criterion has. Raises `UnreadableAnswer`.
        """
        if self._is_of_one_value(found):
            return found
        overall = [each for each in found if is_overall(each)]
        if self._is_of_one_value(overall):
            return overall
        if self._criteria is None:
            return [min(found, key=self._share)]
        free = [each for each in found if not _is_in_line_of(self._criteria.heading, each)]
        if self._is_of_one_value(free):
            return free
        raise UnreadableAnswer(_DIFFERENT)

    def _is_of_one_value(self, found: list[re.Match[str]]) -> bool:
        return len({self._share(each) for each in found}) == 1

    def _share(self, found: re.Match[str]) -> float:
        score, of = found[1], found[2] if found.re.groups > 1 else None
        highest = float(of or self._scale)
        return float(score) / highest if highest else math.inf


def _named_criteria(rubric: Sequence[Criterion]) -> _Criteria | None:
    """Returns the criteria by their names, `None` for a single one, whose score is that of the
    whole.
    """
    names = [one.name for one in rubric if one.name.casefold() not in _OF_THE_WHOLE]
    if len(rubric) == 1 or not names:
        return None
    name = rf"(?P<name>{'|'.join(map(re.escape, names))})(?!\w)"
    scored = re.compile(
        rf"(?<!\w){name}{_IN_LINE}(?:\([^()\n]{{0,60}}\))?"
        rf"{_IN_LINE}(?:score|rating|grade)?[ \t*_`\"':=\-\u2013\u2014\[]{{1,8}}{NUMBER}"
        rf"[*_`\"'\]]{{0,3}}(?:{OF}{NUMBER})?",
        re.IGNORECASE,
    )
    heading = re.compile(rf"^[\W\d_]{{0,8}}{name}", re.IGNORECASE | re.MULTILINE)
    return _Criteria(len(rubric), scored, heading)


def _is_in_line_of(heading: re.Pattern[str], found: re.Match[str]) -> bool:
    start = found.string.rfind("\n", 0, found.start()) + 1
    return heading.search(found.string, start, found.start()) is not None
