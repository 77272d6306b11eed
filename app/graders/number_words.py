"""The numbers that are written as words. Pure."""

import math
import re
from dataclasses import dataclass, field
from typing import Final

NUMBER_WORDS: Final = {
    word: float(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"hundred": 100.0}


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


NUMBER: Final = (
    r"(\d{1,6}(?:\.\d{1,6})?)(?!\d|[.,]\d|[eE][+-]?\d|\s?%|\s?percent"
    r"|\s?(?:[-\u2013\u2014\u2026~]|\.{2,3}|to\b)\s?\d)"
)
"""A complete number: not the 8 of `8,5`, `8%`, `8-9` or `8 to 9`, nor the 1 of `1e1`."""
OF: Final = r"\s{0,3}(?:/|out\s{1,3}of)\s{0,3}"
MARKDOWN: Final = r"[\s*_`\"']{0,6}"
BRACKETS: Final = re.compile(rf"\[\[\s{{0,16}}{NUMBER}\s{{0,16}}\]\]", re.ASCII)
LABEL: Final = re.compile(
    rf"\b(?:score|rating|grade)\b(?:\s?\([^()\n]{{0,60}}\))?{MARKDOWN}[:=]{MARKDOWN}{NUMBER}"
    rf"[*_`\"']{{0,3}}+(?:{OF}{NUMBER}|(?!{OF}\d))",
    re.ASCII | re.IGNORECASE,
)
SHARE: Final = re.compile(
    rf"(?<![\w./\-\u2212\u2013])(?<!\d,){NUMBER}{OF}{NUMBER}(?![\d/])", re.ASCII | re.IGNORECASE
)
_POINTS: Final = rf"\d[\d.]{{0,9}}{OF}\d[\d.]{{0,9}}"
_SCALE_END: Final = (
    rf"[.;](?!{MARKDOWN}(?:an?\s)?\d|[^\d\n.;]{{0,40}}\b(?:where|best|worst|perfect|\w{{0,4}}est|m(?:ax|in)))"
    rf"|,\s?(?:I|my|overall|total|final)\b"
    rf"|(?<!\w)(?<![a-z]\s)(?:(?:my|the|overall|total|final)\s){{0,3}}(?:score|rating|grade)"
    rf"(?:{MARKDOWN}[:=]|\s(?:is|of)\b)"
)
"""The end of words about a scale: a sentence about another thing than its bounds, or a score."""
BOUNDS: Final = re.compile(
    rf"[(\[]\s?{MARKDOWN}(?:scale|range)\b[^()\[\]\n]{{0,200}}[)\]]"
    rf"|^{MARKDOWN}(?:scale|range){MARKDOWN}:[^\n]*?(?={_SCALE_END}|$)"
    rf"|{_POINTS}\s?(?:[-\u2013\u2014\u2026~]|\.{{2,3}}|to\b)\s?{_POINTS}"
    rf"|\bbetween\s{_POINTS}\sand\s{_POINTS}",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)
"""The bounds of a scale, which a judge repeats from its prompt: `(Scale: 0/10 … 10/10)`."""
_WHOLE: Final = r"(?:overall|(?:in\s)?total|final)"
_LINK: Final = (
    r"(?:[,\s*_`\"':=|\-\u2013\u2014]"
    r"|\b(?:is|of|at|be|would|it|I|give|gets|earns|deserves|an?)\b){0,16}"
)
BEFORE: Final = re.compile(
    rf"\b{_WHOLE}(?:\s(?:score|rating|grade))?(?:\s?\([^()\n]{{0,40}}\))?{_LINK}\Z",
    re.ASCII | re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    rf"[*_`\"']{{0,3}} ?\(?(?:(?:as|is|the|my)\s){{0,3}}{_WHOLE}\b", re.ASCII | re.IGNORECASE
)
"""Words at a share by which it is the score of the whole: `Overall: 6/10`, `6/10 in total`."""
NAMED: Final = re.compile(
    rf"(?:\A|[.!?;\n]){MARKDOWN}(?:(?:so|thus|then|and|the|my|its)\s){{0,2}}"
    rf"(?:score|rating|grade){_LINK}\Z",
    re.ASCII | re.IGNORECASE,
)
"""The beginning of a sentence by which a share is most likely that of the whole."""
_REACH: Final = 80
"""Number of characters before a share that are searched for such words."""


def is_overall(share: re.Match[str]) -> bool:
    return stands_before(BEFORE, share) or _BEHIND.match(share.string, share.end()) is not None


def stands_before(words: re.Pattern[str], share: re.Match[str]) -> bool:
    start = share.start()
    return words.search(share.string, max(0, start - _REACH), start) is not None
