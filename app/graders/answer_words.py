"""The marks between which models of any family reason in the text of an answer. Pure.

An engine takes the reasoning out of an answer by the marks of the model's own chat template. A
model that was told to reason between other marks, or a server that takes nothing out, leaves them
in the text. Readers of a final number or score skip the reasoning by these patterns.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final

_END_LINES: Final = (
    r"(?P<end>[<\u25c1]/(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]",
    r"|(?-i:\[/THINK\])|<\|(?:end_of_thought|end_thinking)\|>|<channel\|>|assistantfinal",
    r"|<\|channel\|>\s{0,16}final\s{0,16}(?:<\|constrain\|>\s{0,4}\w{1,16}\s{0,4})?<\|message\|>)",
)
THINKING_LINES: Final = (
    r"(?:(?<!``)([`\"'])|(?<![`\"'])|(?<=```))",
    f"(?:{_END_LINES[0]}",
    *_END_LINES[1:],
    r"|[<\u25c1](?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]|(?-i:\[THINK\])",
    r"|<\|(?:begin_of_thought|start_thinking)\|>|<\|channel>thought",
    r"|<\|channel\|>\s{0,16}analysis\s{0,16}<\|message\|>|\Aanalysis(?=[a-z]))(?(1)(?!\1))",
)
"""Lines of source for the pattern of a mark that is not in quotes, where a text names it; one that
ends reasoning has the group `end`. The lines have the marks of tags, of Kimi (`◁think▷`), Seed,
Cohere, Gemma and of harmony's channels, with their tokens and without. Compile it with
`re.IGNORECASE`.
"""
THINKING_MARK: Final = re.compile("".join(THINKING_LINES), re.IGNORECASE)


def after_thinking(text: str) -> str:
    """Returns the text after the reasoning that it begins with; empty if that has no end."""
    start = THINKING_MARK.match(text, len(text) - len(text.lstrip()))
    if start is None or start["end"] is not None:
        return text
    marks = THINKING_MARK.finditer(text, start.end())
    return next((text[mark.end() :] for mark in marks if mark["end"] is not None), "")


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
