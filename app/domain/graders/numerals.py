"""The grammar of numbers in answers and references. Pure.

The grader that `auto` writes and the choice of that grader read numbers by the same pattern, so
that a reference which counts as a number is one for the grader too.
"""

import re
from typing import Final

MINUS_SIGN: Final = "\u2212"
"""Typographic minus sign; it is read as the hyphen that stands for it."""
NUMERAL_LINES: Final = (
    r"(?:(?<![\w.])([+-]))?(?:(?:[€£¥]|\\\$|(?<!\$[+-])\$) ?)?",
    r"((?<![\w.])(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)",
    r"(?:[eE][+-]?\d{1,4}\b)?)",
)
"""The pattern, with the groups sign and digits, in lines of a source. A hyphen behind a letter or a
digit is no sign, neither is one between formulas (`$10$-$4$`), and digits inside of a word are no
number. To be compiled with `re.ASCII`.
"""
_WHOLE: Final = re.compile(r"(?:\\?[$€£¥] ?)?" + "".join(NUMERAL_LINES), re.ASCII)


def is_number(text: str) -> bool:
    """Returns whether a text is a number and nothing else, with or without a currency mark."""
    return _WHOLE.fullmatch(text.replace(MINUS_SIGN, "-")) is not None
