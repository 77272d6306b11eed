"""Scores the equality of two texts with 1 or 0."""

import re
import unicodedata
from collections import Counter
from decimal import Decimal
from functools import cache
from typing import Final

from typing_extensions import override

from app.domain.graders.kinds.exact_match import ExactMatchGrader, Normalisation
from app.grading.scorer import ScoreResult
from app.grading.text_scorer import TextScorer, unreadable

_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?", re.ASCII
)
_MAX_NUMBER: Final = 1_000
"""Characters of a text that is read as a number."""
MAX_MARKS: Final = 30
"""Combining marks in a row. Source: Unicode Standard Annex 15, Stream-Safe Text Format."""
MAX_NORMALISED: Final = 4_000_000
"""Characters that a text may have when it is normalised, as many as a body has bytes at most. The
interpreter stands still until all are made.
"""
_LONGEST: Final = 18
"""Characters that one character becomes at most."""
_MARKS_END: Final = 0x20000
"""No character from here on is a combining mark."""


class ExactMatchScorer(TextScorer):
    def __init__(self, spec: ExactMatchGrader, *, source: str) -> None:
        super().__init__([spec.input, spec.reference], source=source)
        self._spec = spec

    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        text, reference = texts
        if self._spec.unicode != "none" and any(map(has_long_run_of_marks, texts)):
            return unreadable(f"a text has more than {MAX_MARKS} combining marks in a row")
        if any(normalised_length(self._spec.unicode, each) > MAX_NORMALISED for each in texts):
            return unreadable(f"a text has more than {MAX_NORMALISED} characters when normalised")
        if self._normalised(text) == self._normalised(reference):
            return ScoreResult(1.0)
        if self._spec.numbers and same_number(text, reference):
            return ScoreResult(1.0, reason="the numbers are equal")
        return ScoreResult(0.0, reason="the texts differ")

    def _normalised(self, text: str) -> str:
        if self._spec.unicode != "none" and not text.isascii():
            text = unicodedata.normalize(self._spec.unicode, text)
        if self._spec.ignore_case:
            text = text.casefold()
        return text.strip() if self._spec.strip else text


def normalised_length(form: Normalisation, text: str) -> int:
    """Returns at least the length of a text in a form: one character may become eighteen."""
    if form == "none" or text.isascii() or len(text) * _LONGEST <= MAX_NORMALISED:
        return 0
    return sum(
        times * len(unicodedata.normalize(form, each)) for each, times in Counter(text).items()
    )


def has_long_run_of_marks(text: str) -> bool:
    """Says if normalising would sort a long run of marks, which takes quadratic time."""
    if text.isascii():
        return False
    return any(run.end() - run.start() > MAX_MARKS for run in _marks().finditer(text))


@cache
def _marks() -> re.Pattern[str]:
    """Finds runs of marks: characters that are marks once they are decomposed."""
    decomposed = (
        (each, unicodedata.normalize("NFKD", each)) for each in map(chr, range(_MARKS_END))
    )
    marks = "".join(each for each, parts in decomposed if unicodedata.combining(parts[0]))
    return re.compile(f"[{marks}]+")


def same_number(text: str, reference: str) -> bool:
    """Says if both texts are decimal numbers of one value; a comma separates thousands."""
    left, right = number(text), number(reference)
    return left is not None and left == right


def number(text: str) -> Decimal | None:
    """Reads a decimal number that stands alone in the text."""
    if len(text) > _MAX_NUMBER:
        return None
    text = text.strip()
    if _NUMBER.fullmatch(text) is None or not any(sign.isdigit() for sign in text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except ArithmeticError:  # such as `.e3`
        return None
