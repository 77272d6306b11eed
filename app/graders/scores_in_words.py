"""Reads the scores that a judge writes in words, as shares of a scale.

Where they differ, in one form or between forms, the lowest counts with one criterion: a better one
may be a quotation. Beside several criteria it is the one that belongs to no criterion, such as that
at a word for the whole; where several such scores differ, none counts. The bounds of a scale are no
scores. Pure.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from app.graders.judge_answers import UnreadableAnswer
from app.graders.judge_replies import number_in
from app.graders.model_definitions import Criterion
from app.graders.number_words import (
    BEFORE,
    BOUNDS,
    BRACKETS,
    LABEL,
    NAMED,
    NUMBER,
    OF,
    SHARE,
    is_overall,
    stands_before,
)
from app.graders.quoted_verdicts import comparable
from app.graders.texts import matches_in, texts_in

SPELLINGS: Final = (BRACKETS, LABEL, SHARE)
"""The forms of a score."""
_OF_THE_WHOLE: Final = frozenset({"overall", "total", "final", "score", "rating", "grade"})
"""Names of criteria that stand for the whole answer too."""
_IN_LINE: Final = r"[ \t*_`\"']{0,6}"
MAX_SCORES: Final = 1_000
"""Largest number of scores in one form."""
_CLAUSE: Final = re.compile(r"[.;:,!?\n]")
"""The end of a clause."""
_REACH: Final = 80
"""Number of characters before and behind a score that are searched for a criterion."""
_READ: Final = 200_000
"""Number of final characters of an answer that are searched."""
_RAISED: Final = "the judge's verdict is better than one that the judged answer has, too"
_DIFFERENT: Final = "the judge's answer has several scores that differ"


@dataclass(frozen=True, slots=True)
class _Criteria:
    """The criteria of a rubric that has several."""

    number: int
    scored: re.Pattern[str]
    """A score behind the name of a criterion."""
    heading: re.Pattern[str]
    """A line that begins with the name of a criterion."""
    name: re.Pattern[str]

    def heads(self, found: re.Match[str]) -> bool:
        """Returns whether the line of a score begins with a criterion."""
        start = found.string.rfind("\n", 0, found.start()) + 1
        return self.heading.match(found.string, start, found.start()) is not None

    def has(self, found: re.Match[str]) -> bool:
        """Returns whether the line of a score begins with a criterion, or its clause names one."""
        text, start, end = found.string, found.start(), found.end()
        before = _CLAUSE.split(text[max(0, start - _REACH) : start])[-1]
        after = _CLAUSE.split(text[end : end + _REACH], maxsplit=1)[0]
        return self.heads(found) or self.name.search(f"{before} {after}") is not None


class ScoresInWords:
    def __init__(self, scale: float, rubric: Sequence[Criterion]) -> None:
        self._scale = scale
        self._criteria = _named_criteria(rubric)

    def is_one(self, text: str) -> bool:
        """Returns whether a text is one number, a share, or a labelled one of these."""
        forms = (SHARE, LABEL, BRACKETS)
        return number_in(text) is not None or any(form.fullmatch(text.strip()) for form in forms)

    def shares(self, words: str, judged: Any = None) -> Iterator[float]:
        """Yields the score in each form, without those that `judged` has in the same form, which
        may be quotations. Raises `UnreadableAnswer` for scores that differ, and for one that is
        better than all criteria.
        """
        text, is_of_one, most = self._divided(BOUNDS.sub(" ", words[-_READ:]))
        for pattern in SPELLINGS:
            found = list(islice(matches_in(pattern, text), MAX_SCORES + 1))
            if len(found) > MAX_SCORES:
                raise UnreadableAnswer(f"the judge's answer has more than {MAX_SCORES} scores")
            if found and judged is not None:
                found = self._own(found, self._shares_in(judged, pattern))
            for one in self._chosen(pattern, found, is_of_one=is_of_one):
                if self._share(one) > most:
                    raise UnreadableAnswer(_DIFFERENT)
                yield self._share(one)

    def _divided(self, text: str) -> tuple[str, bool, float]:
        """Returns the text without the scores of criteria, whether these are of some criteria only,
        and the best of them if they are of all: a weighted mean is not better.
        """
        if self._criteria is None:
            return text, False, math.inf
        removed = list(self._criteria.scored.finditer(text))
        names = {one["name"].casefold() for one in removed}
        is_of_all = len(names) == self._criteria.number
        best = max((self._share_of(one[2], one[3]) for one in removed), default=math.inf)
        without = self._criteria.scored.sub(" ", text)
        return without, bool(names) and not is_of_all, best if is_of_all else math.inf

    def _chosen(
        self, pattern: re.Pattern[str], found: list[re.Match[str]], *, is_of_one: bool
    ) -> list[re.Match[str]]:
        """Returns the score of the whole in one form, or none. Raises `UnreadableAnswer`."""
        if self._criteria is not None:
            if pattern is SHARE:
                found = self._of_the_whole(found, self._criteria, by_words_only=is_of_one)
            elif self._is_headed(found, self._criteria.heading):
                found = []
        return self._of_one_value(found)[-1:] if found else []

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
            raise UnreadableAnswer(_RAISED)
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
        self, found: list[re.Match[str]], criteria: _Criteria, *, by_words_only: bool
    ) -> list[re.Match[str]]:
        """Returns the bare shares of the whole answer: those at words for the whole, with others
        that are of no criterion, else those that begin a sentence, else all; none where they
        differ, as the scores of criteria do.
        """
        free = [each for each in found if is_overall(each) or not criteria.has(each)]
        overall = free if any(map(is_overall, found)) else []
        named = overall or [each for each in found if stands_before(NAMED, each)]
        alike = named or ([] if by_words_only else found)
        return alike if self._is_of_one_value(alike) else []

    def _of_one_value(self, found: list[re.Match[str]]) -> list[re.Match[str]]:
        """Returns the scores; of those that differ the lowest with one criterion, and beside
        several the one that no line of a criterion has. Raises `UnreadableAnswer`.
        """
        if self._is_of_one_value(found):
            return found
        if self._criteria is None:
            return [min(found, key=self._share)]
        free = [each for each in found if is_overall(each) or not self._criteria.heads(each)]
        if self._is_of_one_value(free):
            return free
        raise UnreadableAnswer(_DIFFERENT)

    def _is_of_one_value(self, found: list[re.Match[str]]) -> bool:
        return len({self._share(each) for each in found}) == 1

    def _share(self, found: re.Match[str]) -> float:
        return self._share_of(found[1], found[2] if found.re.groups > 1 else None)

    def _share_of(self, score: str, of: str | None) -> float:
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
    return _Criteria(len(rubric), scored, heading, re.compile(rf"(?<!\w){name}", re.IGNORECASE))
