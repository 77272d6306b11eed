"""Combining marks: positions at which a text may be cut before normalisation, and long runs of
marks. Pure.

Owns the set of characters that combine with earlier ones in a normal form. Normalising a run of
marks takes quadratic time, and one call holds the interpreter lock until it returns.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

MAX_MARKS: Final = 30
"""Largest number of successive combining marks. Source: Unicode Standard Annex 15, Stream-Safe Text
Format.
"""
LONG_RUN: Final = f"a text has more than {MAX_MARKS} combining marks in a row"
PIECE: Final = 65_536
"""Largest number of characters that are normalised in one call, which takes at most 10 ms, or 75 ms
for ligatures of many letters (U+FDFA).
"""
_MARKS_END: Final = 0x20000
"""No character from here on is a combining mark."""
_HANGUL: Final = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))
"""Vowels and final consonants, which join the syllable before them."""


def has_long_run_of_marks(text: str) -> bool:
    """Returns whether the text has a long run of marks, whose normalisation takes quadratic
    time.
    """
    if text.isascii():
        return False
    # In pieces, between which other threads run: one search of a long text stops them.
    return any(
        run.end() - run.start() > MAX_MARKS
        for start in range(0, len(text), PIECE)
        for run in _marks().finditer(text, start, start + PIECE + MAX_MARKS)
    )


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """Yields pieces of the text whose concatenated normal forms are the normal form of the text. A
    long run of marks is cut, as Stream-Safe Text Format cuts it.
    """
    start = 0
    while start < len(text):
        ends = range(start + size, start + size + MAX_MARKS)
        end = next((at for at in ends if not _joining().match(text, at, at + 1)), None)
        if end is None:  # as in a long text of Hangul vowels
            end = next((at for at in ends if _is_apart(text, at)), ends.stop)
        yield from _without_long_runs(text[start:end])
        start = end


def _is_apart(text: str, at: int) -> bool:
    """Returns whether the character at `at` does not combine with earlier ones."""
    before, each = text[max(0, at - MAX_MARKS) : at], text[at]
    return not _marks().match(each) and all(
        unicodedata.normalize(form, before + each)
        == unicodedata.normalize(form, before) + unicodedata.normalize(form, each)
        for form in ("NFC", "NFKC")
    )


def _without_long_runs(text: str) -> Iterator[str]:
    start = 0
    for run in _marks().finditer(text):
        for cut in range(run.start() + MAX_MARKS, run.end(), MAX_MARKS):
            yield text[start:cut]
            start = cut
    yield text[start:]


@cache
def _marks() -> re.Pattern[str]:
    """Finds runs of characters that are, or begin when they are decomposed with, a combining mark:
    these are sorted.
    """
    return _runs(each for each in map(chr, range(_MARKS_END)) if _is_mark(each))


@cache
def _joining() -> re.Pattern[str]:
    """Finds runs of marks and of characters that are, or begin when they are decomposed with, the
    second part of a character that is composed.
    """
    composed = {chr(point) for syllables in _HANGUL for point in syllables}
    for each in map(chr, range(_MARKS_END)):
        parts = unicodedata.normalize("NFD", each)
        if len(parts) > 1 and unicodedata.normalize("NFC", parts) == each:
            composed.add(parts[-1])
    return _runs(
        each
        for each in map(chr, range(_MARKS_END))
        if _is_mark(each) or not composed.isdisjoint(_firsts(each))
    )


def _runs(characters: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(characters)}]+")


def _is_mark(each: str) -> bool:
    return any(map(unicodedata.combining, _firsts(each)))


def _firsts(each: str) -> set[str]:
    return {each, *(unicodedata.normalize(form, each)[0] for form in ("NFD", "NFKD"))}
