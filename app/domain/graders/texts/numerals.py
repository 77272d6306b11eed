r"""The grammar of numbers in answers and references. Pure.

The grader that `auto` writes, the choice of that grader, `exact_match` and `tool_call` read numbers
by the same patterns, so that all of them agree on whether a text is a number. `docs/graders.md` has
the rules for users:

- A point separates decimals, commas separate groups of three digits. Digits that points or commas
  join in any other way (`1.234,50`, `1,0425`, `0,500`, `3,5`, `1.2.3`) are not a number, and no
  part of them is one. Neither are digits that a slash or a fraction slash joins, with or without a
  blank (`3/4`, `3 / 4`, a date), those of LaTeX's `\frac{3}{4}`, nor digits before a fraction in
  one character (`2½`).
- LaTeX's `{,}` and its thin spaces, and the spaces U+00A0, U+202F and U+2009, separate groups as
  commas do, before three digits. A plain blank separates numbers.
- An underscore or apostrophe between digits (`1_000`, `1'000`) separates groups of three as a comma
  does; digits that it joins in any other way (`5_00`, `1'0`) are not a number, and no part of them
  is one. Elsewhere an underscore is a mark of Markdown (`_5_`), except after a letter (`x_5`).
- Letters directly after the number are its unit or ending (`12kg`, `5th`, `12USD`), unless a digit
  follows them (`3f2a`, `0x1F`). Letters directly before it make a name (`x5`, `H2O`, `USD12`),
  which contains no number: a currency is written as its mark, or as a separate word (`USD 12`).
- A hyphen, minus sign or en dash is a sign if it is directly before the number or its currency
  mark, and not after a letter, digit or point: `-5`, `-$5`; not in `3-4` or `- 5`, which is an item
  of a list or a subtraction. Parentheses are not a sign: `($5)` is 5.
"""

import re
from decimal import Decimal
from typing import Final

MINUS_SIGNS: Final = r"[\u2212\u2013\ufe63\uff0d]"
"""Pattern of the characters that are read as a hyphen: the minus sign, the en dash, the small and
the full-width hyphen.
"""
GROUP_MARKS: Final = r"(?<=\d)(?:\{,\}|\\[,:;!]|[\u00a0\u202f\u2009_'\u2019])(?=\d{3}(?!\d))"
"""Pattern of the separators that are read as a comma between groups of three digits."""
NUMERAL_LINES: Final = (
    r"(?:(?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)([+-]))?(?:(?:[€£¥]|\\\$|(?<!\$[+-])\$) ?)?",
    r"((?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)(?<!\d[,'\u2019])",
    r"(?<!\d[/\u2044\u2215])(?<!\d [/\u2044\u2215])(?<!\d[/\u2044\u2215] )(?<!\d [/\u2044\u2215] )",
    r"(?<!frac\{)(?<!frac\{[+-])(?<!\}\{)(?<!\}\{[+-])",
    r"(?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?![.,_'\u2019]?\d)",
    r"(?! ?[/\u2044\u2215] ?\d)(?![\u00bc-\u00be\u2150-\u215f\u2189])",
    r"(?:[eE][+-]?\d{1,4}\b)?(?![A-Za-z]{1,16}\d))",
)
"""Lines of source for the pattern of a number, with the groups sign and digits. A hyphen after a
letter or digit, or between formulas (`$10$-$4$`), is not a sign, and digits inside a word are not a
number. Compile it with `re.ASCII`.
"""
_MINUS: Final = re.compile(MINUS_SIGNS)
_GROUP: Final = re.compile(GROUP_MARKS)
_WHOLE: Final = re.compile(r"(?:\\?[$€£¥] ?)?" + "".join(NUMERAL_LINES), re.ASCII)


def is_number(text: str) -> bool:
    """Returns whether a text is a number and nothing else, with or without a currency mark."""
    return _read(text) is not None


def number_of(text: str) -> Decimal | None:
    """Returns the value of a text that is a number and nothing else; a point may end it."""
    found = _read(text.strip().removesuffix("."))
    if found is None:
        return None
    return Decimal("".join(part or "" for part in found.groups()).replace(",", ""))


def _read(text: str) -> re.Match[str] | None:
    return _WHOLE.fullmatch(_GROUP.sub(",", _MINUS.sub("-", text)))
