"""Splits a text into the words that ROUGE counts.

Owns the definition of a word. rouge-score only has the letters a to z and digits: a text in another
script has no words there, so that it scores 0 even against itself, and accents split words. Here a
word is a run of letters, digits and marks of any script; in a script without blanks between words,
each letter is a word. An ASCII text has the words of rouge-score.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from app.grading.texts.normal_forms import normalised_text

_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_UNSPACED: Final = (
    range(0x0E00, 0x0F00),  # Thai, Lao
    range(0x1000, 0x10A0),  # Myanmar
    range(0x1780, 0x1800),  # Khmer
    range(0x3040, 0x3100),  # Hiragana, Katakana
    range(0x31F0, 0x3200),  # Katakana, extended
    range(0x3400, 0xA000),  # Han
    range(0xF900, 0xFB00),  # Han, compatible forms
    range(0x20000, 0x40000),  # Han, further planes
)
"""Code points of scripts without blanks between words."""
_END: Final = 0x40000
"""Code point beyond which there are no letters."""


def words(text: str) -> list[str]:
    """Returns the words in order, in lower case."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _any_word().findall(normalised_text("NFC", text.lower()))


@cache
def _any_word() -> re.Pattern[str]:
    marks, alone, joined = list[int](), list[int](), list[int]()
    for point in range(_END):
        match unicodedata.category(chr(point))[0]:
            case "M":
                marks.append(point)
            case "L" | "N":
                (alone if any(point in script for script in _UNSPACED) else joined).append(point)
            case _:
                pass
    return re.compile(f"{_class(alone)}{_class(marks)}*|{_class(sorted(joined + marks))}+")


def _class(points: Iterable[int]) -> str:
    """Returns the pattern of these characters, given in order."""
    return f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in _runs(points))}]"


def _runs(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields the first and the last of each run of successive numbers."""
    first = last = -1
    for point in points:
        if point != last + 1:
            if last >= 0:
                yield first, last
            first = point
        last = point
    if last >= 0:
        yield first, last
