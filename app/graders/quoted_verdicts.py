"""Finds the scores in words that a judged answer names, in any spelling that a judge may quote.

An answer that says `rate this ten out of ten` or `give me full marks` has a judge that refuses it
write `10/10`. Numbers of the answer's subject are found too where they read like a score (`grade 9
pupils`): a judge with words beside its JSON is asked again then. Reads all of a text in time
proportional to its length. Pure.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from app.graders.judge_replies import VERDICTS, number_in
from app.graders.number_words import BRACKETS, LABEL, NUMBER_WORDS, SHARE, NamedNumbers, numbers_in
from app.graders.text_scorer import plain_text
from app.graders.texts import matches_in, object_of, objects_in, replaced_in, texts_in

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


_QUOTES: Final = (
    r"\"'`\u00ab\u00b4\u00bb\u02b9-\u02bc\u05f3\u05f4\u2018-\u201f\u2032-\u2037\u2039\u203a\u2057\u275b-\u275e"
    r"\u276e\u276f\u2e02-\u2e05\u2e1c\u2e1d\u2e42\u3003\u300c-\u300f\u301d-\u301f\uff02\uff07"
)
"""Characters that a judge may write as quotes of JSON."""
_SIGNS: Final = r":>\u02d0\u2190-\u2192\u21d0-\u21d2\u2236\u2254\u2255\u279c\ua789\ufe55\uff1a"
_MARKS_VERDICTS: Final = rf"[\s{_QUOTES}\\*_\[({{<&]{{0,16}}+"
_BEFORE: Final = rf"[\s{_QUOTES}\\*_\[({{<&,;\])}}>]{{0,16}}+"
"""Marks in front of a value, of which a label may have some at its own beginning."""
_RUN: Final = rf"[^\s{_QUOTES}\\*_\[({{<&,;\])}}>][^{_QUOTES}\\\[({{<&,;\])}}>\n]{{0,79}}"
_KEY: Final = r"(?<![^\W_])(?:results?|scores?|ratings?|grades?|verdict)(?![^\W_])"
_AT_KEY: Final = (
    rf"{_KEY}{_MARKS_VERDICTS}(?:[{_SIGNS}]|=>|->|(?<=[\"'`])=|(?:value|number|points)\s?=)[=>]?"
)
_QUOTED: Final = rf"(?<=[{_QUOTES}])\s?[{_SIGNS}]"
"""The end of any key in quotes."""
_UNNAMED: Final = rf"(?<=[{_QUOTES}\]}}])\s?,?(?:\s?[ceorlstu]{{0,6}}\s?[:=]?(?=\s?[-.\d]))?"
"""The beginning of a value whose comma and key a server writes, or the key's other letters."""
_PLACES: Final = re.compile(
    rf"(?:{_AT_KEY}|{_QUOTED}|{_UNNAMED})(?={_BEFORE}(?P<value>{_RUN})?)", re.IGNORECASE
)
"""A place of a verdict, and the words behind it up to a quote, a bracket or the line's end."""
_VALUE_VERDICTS: Final = re.compile(_RUN)
_LETTERS: Final = re.compile(r"[ceorlstu]{0,6}\s?[:=]?\s?", re.IGNORECASE)
"""Letters of a key, which a server completes in front of a label, and the sign behind it."""
_MOST: Final = 150_000
"""Number of places from which an answer is taken to name any verdict."""
_COMPARED: Final = 60
"""Number of characters of a label that are compared."""
_CONTROLS: Final = re.compile(r"\\[bfnrt]")
"""An escaped blank, which a reader of JSON takes off."""
_BLANKS: Final = re.compile(r"[\s\\]{2,}+")


@dataclass(slots=True)
class VerdictValues:
    """The values that texts have at the places of verdicts, whichever key it is."""

    numbers: NamedNumbers = field(default_factory=NamedNumbers)
    labels: set[str] = field(default_factory=set)
    """The words behind keys, of which a label may be the beginning."""
    texts: list[str] = field(default_factory=list)
    """All texts, in which a label with marks is sought."""
    has_any: bool = False
    """True if there are more places than are compared."""
    _sorted: list[str] = field(default_factory=list)
    """The labels in their order: each of up to 256 labels is compared with up to 150,000 words."""

    def has(self, value: Any) -> bool:
        """Returns whether a verdict of an object may be a quotation."""
        found = object_of(value)
        return any(self.has_value(found[key]) for key in VERDICTS if key in found)

    def has_value(self, value: Any) -> bool:
        """Returns whether a verdict may be a quotation: a number, a label or a list of scores."""
        if isinstance(value, list):
            entries = (number_in(object_of(one).get("score")) for one in value)
            return any(self._has_number(one) for one in entries if one is not None)
        number = number_in(value)
        if number is not None and self._has_number(number):
            return True
        if not isinstance(value, str):
            return False
        plain = plain_text(value)
        return self._has_label(plain) or any(map(self._has_number, numbers_in(plain)))

    def has_number_within(self, lowest: float, highest: float) -> bool:
        return self.has_any or self.numbers.has_within(lowest, highest)

    def add(self, value: str) -> None:
        self.numbers.add(value.lstrip())
        lead = _LETTERS.match(value)
        for at in range(1 if lead is None else lead.end() + 1):
            label = _label(value[at:])
            if label:
                self.labels.add(label)

    def _has_label(self, label: str) -> bool:
        """Returns whether words behind a key begin with a label, or, for one with marks, whether a
        text has it anywhere.
        """
        said, whole = _label(label), " ".join(label.casefold().split())
        if self.has_any or (said != whole and any(whole in text for text in self.texts)):
            return True
        begun = said[:_COMPARED]
        at = bisect_left(self.sorted_labels, begun) if begun else len(self.labels)
        for words in self.sorted_labels[at:]:
            if not words.startswith(begun):
                return False
            if begun != said or not words[len(said) : len(said) + 1].isalnum():
                return True
        return False

    @property
    def sorted_labels(self) -> list[str]:
        """The labels in their order, sorted at the first comparison."""
        if len(self._sorted) != len(self.labels):
            self._sorted = sorted(self.labels)
        return self._sorted

    def _has_number(self, number: float) -> bool:
        return self.has_any or self.numbers.has(number)


def quotable_verdicts(judged: Any) -> VerdictValues:
    """Returns the verdicts in a sample or in rollouts: in its texts, and in its JSON."""
    quotable, values, number = VerdictValues(), set[str](), 0
    for text in chain.from_iterable(map(_spellings, texts_in(judged))):
        plain = replaced_in(_CONTROLS, " ", text.replace("\\/", "/"))
        spaced = replaced_in(_BLANKS, " ", plain)
        quotable.texts.append(spaced.replace("\n", " ").casefold())
        for found in matches_in(_PLACES, spaced):
            number += 1
            if found["value"]:
                values.add(found["value"])
            if number == _MOST:
                quotable.has_any = True
                return quotable
    for value in values:
        quotable.add(value)
        if len(quotable.labels) > _MOST:
            quotable.has_any = True
            return quotable
    for one in objects_in(judged):
        for key in VERDICTS:
            if key in one:
                quotable.add(str(one[key]) if isinstance(one[key], str | int | float) else "")
    return quotable


def _spellings(text: str) -> set[str]:
    """Returns a text as it is, of which a server takes the first characters, and in plain forms."""
    return {text, plain_text(text)}


def _label(value: str) -> str:
    """Returns the first words of a label, in the form in which both sides are compared."""
    found = _VALUE_VERDICTS.search(value)
    return "" if found is None else " ".join(found[0].casefold().split()).rstrip(".! ")
