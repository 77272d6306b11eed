"""The scales on which judges give verdicts: numbers between two bounds, or labels.

A scale finds the verdict with which words begin (`2/10`, `**fail**, weak`). Words that leave open
what is meant, such as `2 or 3`, have none. Pure.
"""

import math
import re
from collections.abc import Sequence
from typing import Final, Protocol

from app.graders.judge_replies import number_in
from app.graders.number_words import NUMBER_WORDS
from app.graders.quoted_verdicts import VerdictValues

_EDGES: Final = " \t\n\"'`*_\\\u2018\u2019\u201c\u201d"
"""Quotes and the marks of Markdown, also behind backslashes."""
_OPENING: Final = f"{_EDGES}(["
_CLOSING: Final = "[ \\t\"'`*_\\\\\u2018\u2019\u201c\u201d]{0,8}"
_NUMBER: Final = re.compile(
    r"[-+\u2212]?(?:[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(?!_?[^\W_]|[.,][0-9])"
)
"""A whole number: not the 8 of `8,5`, `1,000` or `8k`."""
_NAMED: Final = re.compile(rf"(?:{'|'.join(NUMBER_WORDS)})(?!\w)", re.IGNORECASE)
_TOP: Final = re.compile(
    rf"{_CLOSING}\(?(?:/|(?:out\s)?of\b|(?:on\s)?(?:a\s|the\s)?scale\s(?:of|from)\s"
    r"[0-9]{1,9}\s?(?:to|[-\u2013])(?=\s?[0-9]))\s{0,3}"
    r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?!_?[^\W_]|[.,/][0-9])"
)
"""The bottom of a fraction, or the end of a scale that is named, which is the best number."""
_STOP: Final = re.compile(
    rf"{_CLOSING}(?:\Z|[\r\n.!;)\]}}|<(#]|[,:](?!\d)|//|[-\u2013\u2014]\s"
    r"|(?:because|since|due)(?!\w)"
    r"|(?:points?|stars?|marks?|overall)\s{0,3}(?:\Z|[\n.!;,)\]}|<(]))"
)
"""The beginning of words that may stand behind a verdict: the end of a sentence or cell, another
key, or a reason. Bare words may say that somebody else wants it.
"""
_REST: Final = re.compile(
    r"(?:(?![.!](?:[^\w.]|$)|,\s{0,16}[\"']|(?<!\w)(?:because|since|due)(?!\w))[^\n;}\]|<])"
    r"{0,1000}"
)
"""The words behind a verdict, up to the end of their sentence or cell, another key or a reason."""
_OTHER: Final = re.compile(
    r"[?%]|(?:(?<!\w)(?:or|to|and|not?|nor|maybe|perhaps|rather|actually|but|even)(?!\w)[\s,]{0,3}"
    rf"|[-\u2013\u2014~/=(,:]\s{{0,3}})(?:[0-9]|(?:{'|'.join(NUMBER_WORDS)})(?!\w))"
)
"""A number behind another one that may be meant instead."""
_CHOICE: Final = re.compile(
    r"(?:option|answer|label|choice|category|class|grade)\s{0,3}[:#]?\s{0,3}", re.IGNORECASE
)
"""A word in front of a label."""

JudgeVerdict = float | str


class VerdictScale(Protocol):
    def verdict_in(self, words: str) -> JudgeVerdict | None:
        """Returns the verdict with which the words begin, `None` if that is unclear."""
        ...

    def begun(self, words: str) -> JudgeVerdict | None:
        """Returns the verdict with which words begin, clear or not; not a number where they begin
        with digits that are no number of a scale.
        """
        ...

    def is_named_in(self, quotable: VerdictValues) -> bool:
        """Returns whether the judged texts name any verdict of the scale."""
        ...


class NumberScale:
    def __init__(self, lowest: float, highest: float) -> None:
        self._highest = highest
        self._range = lowest, highest

    def verdict_in(self, words: str) -> float | None:
        words = words.lstrip(_OPENING)
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
        is_clear = rest is None or _OTHER.search(rest[0]) is None
        return _number(found) if is_clear and ends_there(words, end) else None

    def begun(self, words: str) -> float | None:
        words = words.lstrip(_OPENING)
        found = _NUMBER.match(words)
        if found is not None:
            return _number(found)
        named = _NAMED.match(words)
        if named is not None:
            return NUMBER_WORDS[named[0].lower()]
        return math.nan if words.lstrip("-+.\u2212")[:1].isdecimal() else None

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
        if words in self.labels:
            return words
        line = words.strip().split("\n", 1)[0]
        whole = self.label(line)
        return self._first_of(line) if whole is None else whole

    def begun(self, words: str) -> str | None:
        whole, begun = self.verdict_in(words), self._head(words)
        return whole if whole is not None or begun is None else self.label(begun[0])

    def is_named_in(self, quotable: VerdictValues) -> bool:
        return any(map(quotable.has_value, self.labels))

    def _first_of(self, line: str) -> str | None:
        begun = self._head(line)
        if begun is None:
            return None
        head, rest = begun
        found = _REST.match(rest)
        behind = "" if found is None else found[0]
        if "?" in behind or not ends_there(rest, 0):
            return None
        said = self.label(head)
        others = (label for label in self.labels if label != said)
        return None if any(_is_word_in(label, behind) for label in others) else said

    def _head(self, words: str) -> tuple[str, str] | None:
        """Returns the longest label with which words begin, as they write it, and the rest. Its own
        quotes are a part of a label; one of marks alone must be all of a line, and one of a letter
        has the same case.
        """
        bare = words.lstrip(_OPENING)
        choice = _CHOICE.match(bare)
        for said in (words.lstrip(), bare, *(() if choice is None else (bare[choice.end() :],))):
            for label in self._longest_first:
                head, rest = said[: len(label)], said[len(label) :]
                is_label = head.casefold() == label.casefold() and (len(label) > 1 or head == label)
                if is_label and not _continues(head, rest):
                    return head, rest
        return None


def ends_there(text: str, at: int) -> bool:
    """Returns whether a verdict may end at a place: behind it stands a reason, another key or cell,
    or nothing.
    """
    return _STOP.match(text, at) is not None


def _number(found: re.Match[str]) -> float | None:
    return number_in(found[0].removeprefix("+"))


def _continues(head: str, rest: str) -> bool:
    """Returns whether a word, or a grade such as `A-`, does not end with its first letters."""
    return head[-1:].isalnum() and (rest[:1].isalnum() or rest[:1] in {"-", "+", "#"})


def _is_word_in(label: str, text: str) -> bool:
    """Returns whether a text has a label apart from other words, one of a letter in its case; marks
    alone are no label there.
    """
    if len(label) > 1:
        label, text = label.casefold(), text.casefold()
    at = text.find(label) if any(map(str.isalnum, label)) else -1
    while at >= 0:
        before, behind = text[at - 1 : at] if at else "", text[at + len(label) :]
        if not (before.isalnum() and label[0].isalnum()) and not _continues(label, behind):
            return True
        at = text.find(label, at + 1)
    return False
