"""Collects the numbers that words begin with: as a reader takes them, in the digits of any script
or as a word, and as a server takes them that enforces a number of JSON.

Such a server takes the characters of a quotation up to the first one that no number has, and lets
the judge's model continue one that is not complete: `10⁰` gives 10, `9e` any power of ten. Pure.
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
    r"-(?![0-9])|(?P<whole>-?(?:0|[1-9][0-9]{0,80})(?:\.[0-9]{1,80})?(?:e[-+]?[0-9]{1,80})?)"
    r"(?P<open>\.|e)?",
    re.ASCII | re.IGNORECASE,
)
"""A number of JSON, and the beginning of more digits."""
_LONG: Final = 30
"""Characters from which a number is not compared: the pattern may have read a part of it."""


@dataclass(slots=True)
class NamedNumbers:
    exact: set[float] = field(default_factory=set)
    opened: set[float] = field(default_factory=set)
    """Numbers with a point, behind which a server lets any digits follow."""
    has_any: bool = False
    """True if a number has so many digits, or such an open end, that it is not compared."""

    def add(self, words: str) -> None:
        """Adds the numbers that a server and a reader take from the beginning of words."""
        taken = _TAKEN.match(words)
        if taken is not None and taken["whole"] is not None:
            self.exact.add(float(taken["whole"]))
            self.opened |= {float(taken["whole"])} if taken["open"] == "." else set()
        self.has_any |= taken is not None and (not taken["whole"] or taken["open"] in {"e", "E"})
        first = words.split(" ", 1)[0]
        spelled = _SPELLED.match(first)
        if spelled is not None:
            self.has_any |= len(spelled[0]) >= _LONG
            self.exact.add(float(spelled[0].replace("\u2212", "-")))
        elif (word := first.casefold().rstrip(".!")) in NUMBER_WORDS:
            self.exact.add(NUMBER_WORDS[word])

    def has(self, number: float) -> bool:
        return self.has_any or number in self.exact or math.trunc(number) in self.opened

    def has_within(self, lowest: float, highest: float) -> bool:
        return self.has_any or any(lowest <= number <= highest for number in self.exact)


def numbers_in(words: str) -> list[float]:
    """Returns all numbers of a text in the digits of any script."""
    return [float(each.replace("\u2212", "-")) for each in _SPELLED.findall(words)]
