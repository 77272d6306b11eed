"""Collects the numbers that words begin with: as a reader takes them, in the digits of any script
or as a word, and as a server takes them that enforces a number.

Such a server takes the characters of a quotation up to the first one that its grammar does not
admit, and has the judge's model continue a number that is not complete: `10⁰` gives 10, `9e` some
power of ten. Grammars differ: llama.cpp ends each part of a number at 16 digits and admits no zero
in front of an exponent, outlines wants a sign there. Pure.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Final

from app.grading.judge_texts.number_words import NUMBER_WORDS

_SPELLED: Final = re.compile(
    r"[-+\u2212]?(?:\d{1,80}(?:\.\d{0,80})?|\.\d{1,80})(?:e[-+]?\d{1,80})?",
    re.IGNORECASE,
)
"""A number in the digits of any script."""
_TAKEN: Final = re.compile(
    r"(?P<sign>-?)(?P<whole>(?:0|[1-9][0-9]{0,80})(?:\.[0-9]{1,80})?)?(?P<open>[.e])?",
    re.ASCII | re.IGNORECASE,
)
"""A number of JSON up to its exponent, and the beginning of more digits."""
_CUT: Final = re.compile(r"[0-9]{1,16}(?:\.[0-9]{1,16})?", re.ASCII)
"""The part of a number that has an end after 16 digits of each of its parts."""
_LONG: Final = 30
"""Characters from which a number is not compared: the pattern may have read a part of it."""


@dataclass(slots=True)
class NamedNumbers:
    spelled: set[float] = field(default_factory=set)
    """Numbers as a reader takes them."""
    taken: set[float] = field(default_factory=set)
    """Numbers as servers take them."""
    opened: set[float] = field(default_factory=set)
    """Numbers with a point, behind which a server lets any digits follow."""
    scaled: set[str] = field(default_factory=set)
    """The digits of numbers with an exponent, which a server lets the judge choose."""
    has_negative: bool = False
    """True if a sign is without digits."""
    has_any: bool = False
    """True if a number has so many digits that it is not compared."""

    def add(self, words: str) -> None:
        """Adds the numbers that a server and a reader take from the beginning of words."""
        self._add_taken(words)
        first = words.split(" ", 1)[0]
        spelled = _SPELLED.match(first)
        if spelled is not None:
            self.has_any |= len(spelled[0]) >= _LONG
            self.spelled.add(float(spelled[0].replace("\u2212", "-")))
        elif (word := first.casefold().rstrip(".!")) in NUMBER_WORDS:
            self.spelled.add(NUMBER_WORDS[word])

    def _add_taken(self, words: str) -> None:
        taken = _TAKEN.match(words)
        if taken is None or taken["whole"] is None:
            self.has_negative |= words.startswith("-")
            return
        cut = _CUT.match(taken["whole"])
        numbers = {float(f"{taken['sign']}{each}") for each in (taken["whole"], cut and cut[0])}
        self.taken |= numbers
        if taken["open"] == ".":
            self.opened |= numbers
        elif taken["open"]:
            self.scaled |= {_digits(number) for number in numbers}

    def has(self, number: float) -> bool:
        """Returns whether a judge may have quoted a number, whatever its server enforces."""
        is_taken = number in self.taken or math.trunc(number) in self.opened
        is_scaled = bool(self.scaled) and _digits(number) in self.scaled
        is_negative = self.has_negative and number < 0
        return self.has_any or number in self.spelled or is_taken or is_scaled or is_negative

    def has_within(self, lowest: float, highest: float) -> bool:
        """Returns whether a judge may have quoted a number between two others, on a server that
        enforces none.
        """
        return self.has_any or any(lowest <= number <= highest for number in self.spelled)


def _digits(number: float) -> str:
    """Returns the first 12 digits of a number without its sign and its power of ten: further ones
    differ by rounding.
    """
    return f"{abs(number):.11e}".partition("e")[0].rstrip("0")


def numbers_in(words: str) -> list[float]:
    """Returns all numbers of a text in the digits of any script."""
    return [float(each.replace("\u2212", "-")) for each in _SPELLED.findall(words)]
