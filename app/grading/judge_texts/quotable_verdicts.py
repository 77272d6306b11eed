"""Finds the verdicts that a judged answer has, in any spelling that a judge may quote.

An answer writes `{result: 10}`, `{'result': 10,}`, `result: ten`, `<result>10</result>`, or an
object with escaped quotes within a string, and a judge that refuses it quotes it as proper JSON. So
only a key and what follows it are matched, and no brackets: an answer cannot hide a verdict behind
one that it does not close. Reads all of a text in time proportional to its length. Pure.
"""

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from app.grading.judge_texts.number_words import NUMBER_WORDS
from app.grading.judge_texts.verdicts import VERDICTS, number_in
from app.grading.texts.json_in_text import embedded_json, object_of, objects_in, texts_in
from app.grading.texts.long_texts import matches_in, replaced_in
from app.grading.texts.normal_forms import plain_text

_MARKS: Final = r"[\s\"'`\\*_\u2018-\u201f\[({<&]{0,16}+"
_RUN: Final = r"[^\s\"'`\\*_\u2018-\u201f\[({<&,;\])}>][^\"'`\\\u2018-\u201f\[({<&,;\])}>\n]{0,79}"
_KEY: Final = r"(?P<key>results?|scores?|ratings?|grades?|verdict)(?![^\W_])"
_AT_KEY: Final = (
    rf"{_KEY}{_MARKS}(?:[:>\u2192]|=>|->|(?<=[\"'`])=)[=>]?{_MARKS}(?=(?P<value>{_RUN})?)"
)
_LOOSE: Final = re.compile(rf"(?<![^\W_]){_AT_KEY}", re.IGNORECASE)
"""A key and the words after it, up to a quote, a bracket or the end of the line."""
_VALUE: Final = re.compile(_RUN)
_NUMBER: Final = re.compile(
    r"[-+\u2212]?(?:\d{1,80}(?:\.\d{0,80})?|\.\d{1,80})(?:e[-+]?\d{1,80})?",
    re.ASCII | re.IGNORECASE,
)
_LONG: Final = 30
"""Characters from which a number is not compared: the pattern may have read a part of it."""
_BLANKS: Final = re.compile(r"[\s\\]{2,}+")


@dataclass(slots=True)
class VerdictValues:
    """The values that texts have at the keys of verdicts, whichever key it is."""

    numbers: set[float] = field(default_factory=set)
    has_long_number: bool = False
    """True if a number has so many digits that its value is not compared."""
    labels: set[str] = field(default_factory=set)
    """The words behind keys, of which a label may be the beginning."""

    def has(self, value: Any) -> bool:
        """Returns whether a verdict of an object may be a quotation."""
        found = object_of(value)
        return any(self._has(found[key]) for key in VERDICTS if key in found)

    def _has(self, value: Any) -> bool:
        if isinstance(value, list):
            entries = (number_in(object_of(one).get("score")) for one in value)
            return any(self._has_number(one) for one in entries if one is not None)
        number = number_in(value)
        if number is not None:
            return self._has_number(number)
        return isinstance(value, str) and self._has_label(_label(plain_text(value)))

    def _has_label(self, label: str) -> bool:
        """Returns whether words behind a key begin with a label."""
        return bool(label) and any(
            words.startswith(label) and not words[len(label) : len(label) + 1].isalnum()
            for words in self.labels
        )

    def _has_number(self, number: float) -> bool:
        return self.has_long_number or number in self.numbers


def quotable_verdicts(judged: Any) -> VerdictValues:
    """Returns the verdicts in a sample or in rollouts: in its texts, and in its JSON."""
    quotable = VerdictValues()
    for text in texts_in(judged):
        for found in matches_in(_LOOSE, replaced_in(_BLANKS, " ", plain_text(text))):
            _add(quotable, found["value"] or "")
    # Valid JSON is read as such too: it has no longest blank, and no longest number.
    values = (found.value for text in texts_in(judged) for found in embedded_json(text))
    for one in chain(objects_in(judged), *map(objects_in, values)):
        for key in VERDICTS:
            if key in one:
                _add(quotable, str(one[key]) if isinstance(one[key], str | int | float) else "")
    return quotable


def _add(quotable: VerdictValues, value: str) -> None:
    words = _label(value).split(" ")
    if not words[0]:
        return
    number = _NUMBER.match(words[0])
    if number is not None:
        quotable.has_long_number |= len(number[0]) >= _LONG
        quotable.numbers.add(float(number[0].replace("\u2212", "-")))
    elif words[0].rstrip(".!") in NUMBER_WORDS:
        quotable.numbers.add(NUMBER_WORDS[words[0].rstrip(".!")])
    quotable.labels.add(" ".join(words))


def _label(value: str) -> str:
    """Returns the first words of a label, in the form in which both sides are compared."""
    found = _VALUE.search(value)
    return "" if found is None else " ".join(found[0].casefold().split()).rstrip(".! ")
