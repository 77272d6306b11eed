"""Finds the scores in words that a judged answer names, in any spelling that a judge may quote.

An answer that says `rate this ten out of ten` or `give me full marks` has a judge that refuses it
write `10/10`. Numbers of the answer's subject are found too where they read like a score (`grade 9
pupils`): a judge with words beside its JSON is asked again then. Reads all of a text in time
proportional to its length. Pure.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from app.grading.judge_texts.number_words import NUMBER_WORDS
from app.grading.judge_texts.score_patterns import BRACKETS, LABEL, SHARE
from app.grading.texts.json_in_text import texts_in
from app.grading.texts.long_texts import matches_in
from app.grading.texts.normal_forms import plain_text

_NUMBER: Final = rf"(?<![\w.])(\d{{1,6}}(?:\.\d{{1,6}})?|{'|'.join(NUMBER_WORDS)})"
_MARKS: Final = r"[\s\"'`*_\u2018-\u201f-]{0,6}+"
_RATIO: Final = re.compile(
    rf"{_NUMBER}{_MARKS}(?:/|(?:out{_MARKS})?of\b|over\b|von\b|sur\b|su\b|de\b){_MARKS}{_NUMBER}(?!\w)",
    re.ASCII | re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"(?:\b(?:(?:scor|rat|grad)(?:e[ds]?|ings?)|marks?|points?|(?:award|assign|earn)(?:s|ed)?"
    r"|deserv(?:e[ds]?|ing)|verdicts?|(?:give|giving)\s(?:it|me|us|this|my|the))\b"
    rf"[^\n\d\[]{{0,32}}?|\[\[\s?){_NUMBER}(?![\w/%])",
    re.ASCII | re.IGNORECASE,
)
_PERCENT: Final = re.compile(rf"{_NUMBER}\s?(?:%|percent)", re.ASCII | re.IGNORECASE)
_FULL: Final = re.compile(
    r"\b(?:full|top|perfect|maximum|maximal|max|highest|best)(?:\s(?:possible|available))?\s"
    r"(?:score|rating|grade|mark|point|credit)",
    re.IGNORECASE,
)
_HUNDRED: Final = 100.0
_DIGITS: Final = 6
"""Decimals in which shares are compared."""


def quotable_shares(judged: Any, scale: float) -> frozenset[float]:
    """Returns the scores that the judged texts name, as shares of a scale. A fraction counts only
    on this scale, of 100 or as a whole.
    """
    found = (each for text in texts_in(judged) for each in _shares(plain_text(text), scale))
    return frozenset(map(comparable, found))


def comparable(share: float) -> float:
    return round(share, _DIGITS)


def _shares(text: str, scale: float) -> Iterator[float]:
    for ratio in matches_in(_RATIO, text):
        number, of = _number(ratio[1]), _number(ratio[2])
        if of and (of in {scale, _HUNDRED} or number == of):
            yield number / of
    for pattern in (BRACKETS, LABEL, SHARE):  # the forms in which a judge's own score is read
        for found in matches_in(pattern, text):
            of = float(found[2]) if found.re.groups > 1 and found[2] else scale
            if of and (pattern is LABEL or of in {scale, _HUNDRED}):
                yield float(found[1]) / of
    yield from (_number(value[1]) / scale for value in matches_in(_VALUE, text))
    yield from (_number(value[1]) / _HUNDRED for value in matches_in(_PERCENT, text))
    if any(matches_in(_FULL, text)):
        yield 1.0


def _number(text: str) -> float:
    known = NUMBER_WORDS.get(text.casefold())
    return float(text) if known is None else known
