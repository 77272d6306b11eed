r"""The grammar of numbers in answers and references. Pure.

The grader that `auto` writes, the choice of that grader, `exact_match` and `tool_call` read numbers
by the same patterns, so that all of them agree on whether a text is a number. `docs/graders.md` has
the rules for users:

- A point separates decimals, commas separate groups of three digits.
- A fraction has its value: `3/4`, `3 / 4`, `3 ÷ 4`, `¾`, LaTeX's `\frac{3}{4}` and `\frac34`. A
  whole number in front of a proper one joins it: `2 3/4`, `2 and 3/4`, `2¾`, `2\frac34`.
- Digits that are joined in any other way (`1.234,50`, `1,0425`, `0,500`, `3,5`, `1.2.3`, `1 234`,
  `3:4`, a date with slashes, a power, a root) are unreadable: neither they nor a part of them is a
  number, and no earlier number is taken in the place of the last one if that is unreadable.
- LaTeX's `{,}` and its thin spaces, and the spaces U+00A0, U+202F and U+2009, separate groups as
  commas do, before three digits. A plain blank separates numbers, but not before three digits,
  where other languages separate groups by it.
- An underscore or apostrophe between digits (`1_000`, `1'000`) separates groups of three as a comma
  does; digits that it joins in any other way (`5_00`, `1'0`) are unreadable. Elsewhere an
  underscore is a mark of Markdown (`_5_`), except after a letter (`x_5`).
- Letters directly after the number are its unit or ending (`12kg`, `5th`, `12USD`), unless a digit
  follows them (`3f2a`, `0x1F`). Letters directly before it make a name (`x5`, `H2O`, `USD12`),
  which contains no number: a currency is written as its mark, or as a separate word (`USD 12`).
- A hyphen, minus sign or en dash is a sign if it is directly before the number or its currency
  mark, and not after a letter, digit or point: `-5`, `-$5`; not in `3-4` or `- 5`, which is an item
  of a list or a subtraction. Parentheses are not a sign: `($5)` is 5.
"""

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import Final

MINUS_SIGNS: Final = r"[\u2212\u2013\ufe63\uff0d]"
"""Pattern of the characters that are read as a hyphen: the minus sign, the en dash, the small and
the full-width hyphen.
"""
GROUP_MARKS: Final = r"(?<=\d)(?:\{,\}|\\[,:;!]|[\u00a0\u202f\u2009_'\u2019])(?=\d{3}(?!\d))"
"""Pattern of the separators that are read as a comma between groups of three digits."""
FRACTION_STARTS: Final = r"(?<=[A-Za-z0-9])(?=\\[dtc]?frac|[\u00bc-\u00be\u2150-\u215e\u2189])"
"""Pattern of the places at which a fraction follows without a blank."""
FRACTION_CHARACTERS: Final = r"[\u00bc-\u00be\u2150-\u215e\u2189]"
FRACTION_LINES: Final = (
    r"\\[dtc]?frac ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))",
    r" ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))",
)
"""Lines of source for the pattern of LaTeX's fractions of numbers."""
FRACTION_BARS: Final = r"(?<=\d) ?(?:[/\u2044\u2215\u00f7]|\\div) ?(?=[+-]?\.?\d)"
"""Pattern of the marks between numerator and denominator."""
NUMERAL_LINES: Final = (
    r"(?:(?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)([+-]))?(?:(?:[€£¥]|\\\$|(?<!\$[+-])\$) ?)?",
    r"(?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)(?<!\d[,'\u2019:/^])(?<!\d/[+-])(?:",
    r"(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?(?![/.,]?\d| \d)|",
    r"(?:(\d{1,15})(?: and | )(?=\d{1,15}/\d))?",
    r"((?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,4}\b)?)",
    r"(?:/([+-]?(?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)))?",
    r"(?![.,_'\u2019:]?\d|[\^\u00b2\u00b3\u00b9\u2070-\u2079]|/[+-]?\.?\d)(?![A-Za-z]{1,16}\d)|",
    r"\d+(?:[.,/:_'\u2019]\d+|\^\{?[+-]?\w*+|[\u00b2\u00b3\u00b9\u2070-\u2079])+",
    r"(?![A-Za-z]{1,16}\d))",
    r"|(?:\\[dtc]?(?:frac|binom)|\\sqrt(?:\[\d+\])?|\u221a(?=[\d({])|\^(?=[+-]?[\d{]))",
    r"[+-]?(?: ?\{(?:[^{}]|\{[^{}]*+\})*+\}){0,2}\d*",
)
"""Lines of source for the pattern of a number, with the groups sign, whole part, numerator and
denominator; digits that are unreadable match without groups. A hyphen after a letter or digit, or
between formulas (`$10$-$4$`), is not a sign, and digits inside a word are not a number. Compile it
with `re.ASCII`, and search in a text of which the other patterns have been replaced.
"""
_MINUS: Final = re.compile(MINUS_SIGNS)
_GROUP: Final = re.compile(GROUP_MARKS)
_START: Final = re.compile(FRACTION_STARTS)
_CHARACTER: Final = re.compile(FRACTION_CHARACTERS)
_FRACTION: Final = re.compile("".join(FRACTION_LINES), re.ASCII)
_BAR: Final = re.compile(FRACTION_BARS, re.ASCII)
_WHOLE: Final = re.compile(r"(?:\\?[$€£¥] ?)?(?:" + "".join(NUMERAL_LINES) + ")", re.ASCII)
_MOST_DIGITS: Final = 1_000
"""Largest length of a fraction that is computed."""
_LONGEST: Final = 10_000
"""Largest length of a text that may be a number."""


def is_number(text: str) -> bool:
    """Returns whether a text is a number and nothing else, with or without a currency mark."""
    return _read(text) is not None


def number_of(text: str) -> Decimal | Fraction | None:
    """Returns the value of a text that is a number and nothing else, as a `Fraction` where it is
    written as one; a point may end it.
    """
    return _read(text.strip().removesuffix("."))


def _read(text: str) -> Decimal | Fraction | None:
    if len(text) > _LONGEST:
        return None
    text = _START.sub(" ", _GROUP.sub(",", _MINUS.sub("-", text)))
    text = _CHARACTER.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    found = _WHOLE.fullmatch(_BAR.sub("/", _FRACTION.sub(r"\1\2/\3\4", text)))
    return None if found is None else _value(found)


def _value(found: re.Match[str]) -> Decimal | Fraction | None:
    """Returns the value of a match, `None` for digits that are unreadable."""
    sign, whole, above, below = found.groups()
    if above is None:
        return None
    number = Decimal((sign or "") + above.replace(",", ""))
    if below is None:
        return number
    under = Decimal(below.replace(",", ""))
    if len(found[0]) > _MOST_DIGITS or not under or (whole and not abs(number) < under):
        return None
    joined = Fraction(number) / Fraction(under)
    return joined + int(f"{sign or ''}{whole or 0}")
