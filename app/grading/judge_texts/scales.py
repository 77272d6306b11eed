"""The scales on which judges give verdicts: numbers between two bounds, or labels.

A scale finds the verdict with which words begin (`2/10`, `**fail**, weak`). Words that leave open
what is meant, such as `2 or 3`, have none. Pure.
"""

import math
import re
from collections.abc import Sequence
from typing import Final, Protocol

from app.grading.judge_texts.number_words import NUMBER_WORDS
from app.grading.judge_texts.quotable_verdicts import VerdictValues
from app.grading.judge_texts.verdicts import number_in

_EDGES: Final = " \t\n\"'`*_\\\u2018\u2019\u201c\u201d"
"""Quotes and the marks of Markdown, also behind backslashes."""
_CLOSING: Final = "[ \\t\"'`*_\\\\\u2018\u2019\u201c\u201d]{0,8}"
_NUMBER: Final = re.compile(
    r"[-+\u2212]?(?:[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(?!_?[^\W_]|[.,][0-9])"
)
"""A whole number: not the 8 of `8,5`, `1,000` or `8k`."""
_TOP: Final = re.compile(
    rf"{_CLOSING}\(?(?:/|(?:out\s)?of\b)\s{{0,3}}"
    r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?!_?[^\W_]|[.,/][0-9])"
)
"""The bottom of a fraction, which has the best number of a scale."""
_REST: Final = re.compile(
    r"(?:(?![.!](?:[^\w.]|$)|,\s{0,16}[\"']|(?<!\w)(?:because|since|due)(?!\w))[^\n;}\]|<])"
    r"{0,1000}"
)
"""The words behind a verdict, up to the end of their sentence or cell, another key or a reason."""
_UNCLEAR: Final = re.compile(
    rf"{_CLOSING}(?:%|percent|\?)|[0-9]|(?<!\w)(?:to|or|and|[-\u2013\u2014])\s"
    rf"(?:{'|'.join(NUMBER_WORDS)})(?!\w)"
)
"""Words by which a number is none on the scale, or one of several."""

JudgeVerdict = float | str


class VerdictScale(Protocol):
    def verdict_in(self, words: str) -> JudgeVerdict | None:
        """Returns the verdict with which the words begin, `None` if that is unclear."""
        ...

    def begins(self, words: str) -> bool:
        """Returns whether words begin as a verdict does, clear or not."""
        ...

    def is_named_in(self, quotable: VerdictValues) -> bool:
        """Returns whether the judged texts name any verdict of the scale."""
        ...


class NumberScale:
    def __init__(self, lowest: float, highest: float) -> None:
        self._highest = highest
        self._range = lowest, highest

    def verdict_in(self, words: str) -> float | None:
        words = words.lstrip(_EDGES)
        found = _NUMBER.match(words)
        if found is None:
            return None
        end = found.end()
        top = _TOP.match(words, end)
        if top is not None:
            if float(top[1]) != self._highest:
                return None
            end = top.end()
        rest = _REST.match(words, end)
        is_clear = rest is None or _UNCLEAR.search(rest[0]) is None
        return number_in(found[0].removeprefix("+")) if is_clear else None

    def begins(self, words: str) -> bool:
        return words.lstrip(f"{_EDGES}-+.\u2212")[:1].isdecimal()

    def is_named_in(self, quotable: VerdictValues) -> bool:
        return quotable.has_number_within(*self._range)


NUMBERS: Final = NumberScale(-math.inf, math.inf)
"""A scale without bounds."""


class LabelScale:
    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(dict.fromkeys(labels))
        spelled = (label for label in self.labels if label.strip(_EDGES))
        self._longest_first = sorted(spelled, key=len, reverse=True)

    def label(self, said: str) -> str | None:
        """Returns the label that a text is, in any case where only one label is meant."""
        if said in self.labels:
            return said
        words = said.strip()
        same = [label for label in self.labels if label.casefold() == words.casefold()]
        return words if words in same else same[0] if len(same) == 1 else None

    def verdict_in(self, words: str) -> str | None:
        line = words.strip().split("\n", 1)[0]
        whole = self.label(line)
        return self._first_of(line) if whole is None else whole

    def begins(self, words: str) -> bool:
        return self.verdict_in(words) is not None or self._begun(words) is not None

    def is_named_in(self, quotable: VerdictValues) -> bool:
        return any(map(quotable.has_value, self.labels))

    def _first_of(self, line: str) -> str | None:
        begun = self._begun(line)
        if begun is None:
            return None
        head, rest = begun
        found = _REST.match(rest)
        behind = "" if found is None else found[0]
        if behind.lstrip(_EDGES).startswith("?"):
            return None
        if any(_is_word_in(label, behind) for label in self.labels):
            return None
        return self.label(head)

    def _begun(self, words: str) -> tuple[str, str] | None:
        """Returns the longest label with which words begin, as they write it, and the rest. Its own
        quotes are a part of a label; one of marks alone must be all of a line, and one of a letter
        has the same case.
        """
        for said in (words.lstrip(), words.lstrip(_EDGES)):
            for label in self._longest_first:
                head, rest = said[: len(label)], said[len(label) :]
                is_label = head.casefold() == label.casefold() and (len(label) > 1 or head == label)
                if is_label and not _continues(head, rest):
                    return head, rest
        return None


def _continues(head: str, rest: str) -> bool:
    return head[-1:].isalnum() and rest[:1].isalnum()


def _is_word_in(label: str, text: str) -> bool:
    """Returns whether a text has a label apart from other words; marks alone are no label there."""
    at = text.find(label) if any(map(str.isalnum, label)) else -1
    while at >= 0:
        before, behind = text[at - 1 : at] if at else "", text[at + len(label) :]
        if not (before.isalnum() and label[0].isalnum()) and not _continues(label, behind):
            return True
        at = text.find(label, at + 1)
    return False
