"""What follows the reasoning of an answer, its normal forms, and the graders that `auto` writes."""

import inspect
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from app.graders import answer_numbers
from app.graders.answer_numbers import THINKING


def after_thinking(text: str) -> str:
    start = THINKING.match(text, len(text) - len(text.lstrip()))
    if start is None or start["end"] is not None:
        return text
    marks = THINKING.finditer(text, start.end())
    return next((text[mark.end() :] for mark in marks if mark["end"] is not None), "")


MAX_MARKS: Final = 30
"""Most successive combining marks. Source: Unicode Standard Annex 15, Stream-Safe Text."""
LONG_RUN: Final = f"a text has more than {MAX_MARKS} combining marks in a row"
PIECE: Final = 65_536
"""Most characters normalised in one call: at most 10 ms, or 75 ms for long ligatures (U+FDFA)."""
_MARKS_END: Final = 0x20000
"""No character from here on is a combining mark."""
_HANGUL: Final = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))
"""Vowels and final consonants, which join the syllable before them."""


def has_long_run_of_marks(text: str) -> bool:
    """Returns whether the text has a run of marks that takes quadratic time to normalise."""
    if text.isascii():
        return False
    # In pieces, between which other threads run: one search of a long text stops them.
    return any(
        run.end() - run.start() > MAX_MARKS
        for start in range(0, len(text), PIECE)
        for run in _marks().finditer(text, start, start + PIECE + MAX_MARKS)
    )


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """Yields pieces whose normal forms make that of the text; a long run of marks is cut."""
    start = 0
    while start < len(text):
        ends = range(start + size, start + size + MAX_MARKS)
        end = next((at for at in ends if not _joining().match(text, at, at + 1)), None)
        if end is None:  # as in a long text of Hangul vowels
            end = next((at for at in ends if _is_apart(text, at)), ends.stop)
        yield from _without_long_runs(text[start:end])
        start = end


def _is_apart(text: str, at: int) -> bool:
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
    """Finds runs of characters that are, or decompose to begin with, a combining mark."""
    return _runs(each for each in map(chr, range(_MARKS_END)) if _is_mark(each))


@cache
def _joining() -> re.Pattern[str]:
    """Finds runs of marks and of characters that join the one before them."""
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


_KEY: Final = "REFERENCE_KEY"
_GRADE: Final = '''

def grade(sample, item):
    """1 when the answer gives the number of the reference."""
    expected = answered_number(str(item[REFERENCE_KEY]))
    given = answered_number(said(sample["output_text"]))
    return float(expected is not None and given == expected)
'''
_JSON_FIELDS: Final = '''\
import json


def value_of(text):
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    return json.loads(text)


def same(left, right):
    """Equal as JSON: 1.0 is 1, true is not, at any depth."""
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right))
        elif isinstance(left, bool) or isinstance(right, bool):
            if left is not right:
                return False
        elif left != right:
            return False
    return True


def grade(sample, item):
    """The share of fields that are equal, over the fields of both; 0 for an answer without JSON."""
    expected = item[REFERENCE_KEY]
    if isinstance(expected, str):
        expected = json.loads(expected)
    try:
        found = value_of(sample["output_text"])
    except (ValueError, RecursionError):
        return 0.0
    if isinstance(expected, list) and isinstance(found, list):
        expected, found = dict(enumerate(expected)), dict(enumerate(found))
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return 0.0
    fields = expected.keys() | found.keys()
    right = sum(
        key in expected and key in found and same(expected[key], found[key]) for key in fields
    )
    return right / len(fields) if fields else 1.0
'''


def number_source(key: str) -> str:
    return inspect.getsource(answer_numbers) + _GRADE.replace(_KEY, repr(key))


def json_fields_source(key: str) -> str:
    return _JSON_FIELDS.replace(_KEY, repr(key))
