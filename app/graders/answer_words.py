"""The reasoning and the numbers in an answer's text, also for graders that `auto` chooses."""

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
"""Source lines of the pattern of a reasoning mark that is not in quotes; a closing one has the
group `end`. They know tags, Kimi (`◁think▷`), Seed, Cohere, Gemma and harmony's channels. Compile
with `re.IGNORECASE`."""
THINKING_MARK: Final = re.compile("".join(THINKING_LINES), re.IGNORECASE)


def after_thinking(text: str) -> str:
    start = THINKING_MARK.match(text, len(text) - len(text.lstrip()))
    if start is None or start["end"] is not None:
        return text
    marks = THINKING_MARK.finditer(text, start.end())
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


MINUS_SIGNS: Final = r"[\u2212\u2013\ufe63\uff0d]"
GROUP_MARKS: Final = r"(?<=\d)(?:\{,\}|\\[,:;!]|[\u00a0\u202f\u2009_'\u2019])(?=\d{3}(?!\d))"
"""Pattern of the separators that are read as a comma between groups of three digits."""
FRACTION_STARTS: Final = r"(?<=[A-Za-z0-9])(?=\\[dtc]?frac|[\u00bc-\u00be\u2150-\u215e\u2189])"
FRACTION_CHARACTERS: Final = r"[\u00bc-\u00be\u2150-\u215e\u2189]"
FRACTION_LINES: Final = (
    r"\\[dtc]?frac ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))",
    r" ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))",
)
FRACTION_BARS: Final = r"(?<=\d) ?(?:[/\u2044\u2215\u00f7]|\\div) ?(?=[+-]?\.?\d)"
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
"""Source lines of the pattern of a number, with the groups sign, whole part, numerator and
denominator; unreadable digits match without groups. A hyphen after a letter or digit, or between
formulas (`$10$-$4$`), is no sign. Compile with `re.ASCII`, and apply the other patterns to the text
first."""
_MINUS: Final = re.compile(MINUS_SIGNS)
_GROUP: Final = re.compile(GROUP_MARKS)
_START: Final = re.compile(FRACTION_STARTS)
_CHARACTER: Final = re.compile(FRACTION_CHARACTERS)
_FRACTION: Final = re.compile("".join(FRACTION_LINES), re.ASCII)
_BAR: Final = re.compile(FRACTION_BARS, re.ASCII)
_WHOLE: Final = re.compile(r"(?:\\?[$€£¥] ?)?(?:" + "".join(NUMERAL_LINES) + ")", re.ASCII)
_MOST_DIGITS: Final = 1_000
_LONGEST: Final = 10_000


def is_number(text: str) -> bool:
    return _read(text) is not None


def number_of(text: str) -> Decimal | Fraction | None:
    return _read(text.strip().removesuffix("."))


def _read(text: str) -> Decimal | Fraction | None:
    if len(text) > _LONGEST:
        return None
    text = _START.sub(" ", _GROUP.sub(",", _MINUS.sub("-", text)))
    text = _CHARACTER.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    found = _WHOLE.fullmatch(_BAR.sub("/", _FRACTION.sub(r"\1\2/\3\4", text)))
    return None if found is None else _value(found)


def _value(found: re.Match[str]) -> Decimal | Fraction | None:
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


_KEY: Final = "REFERENCE_KEY"
_LAST_NUMBER: Final = '''\
import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

MARK = re.compile(
THINKING_LINES
    re.IGNORECASE,
)
MINUS = re.compile(r"MINUS_SIGNS")
COMMA = re.compile(r"GROUP_MARKS")
START = re.compile(r"FRACTION_STARTS")
CHARACTER = re.compile(r"FRACTION_CHARACTERS")
FRACTION = re.compile(
FRACTION_LINES
    re.ASCII,
)
BAR = re.compile(r"FRACTION_BARS", re.ASCII)
NUMBER = re.compile(
NUMERAL_LINES
    re.ASCII,
)


def said(text):
    """The text outside of reasoning between marks; empty where reasoning has no end."""
    parts, start, thinking = [], 0, False
    for mark in MARK.finditer(text):
        ends = mark["end"] is not None
        if ends and not thinking:
            parts.clear()
        elif not thinking:
            parts.append(text[start : mark.start()])
        thinking, start = not ends, mark.end()
    return "" if thinking else "\\n".join([*parts, text[start:]])


def last_number(text):
    """The value of the last number of a text; none where its last digits cannot be read."""
    text = START.sub(" ", COMMA.sub(",", MINUS.sub("-", text)))
    text = CHARACTER.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text, last = BAR.sub("/", FRACTION.sub(r"\\1\\2/\\3\\4", text)), None
    for last in NUMBER.finditer(text):
        pass
    if last is None or last[3] is None:
        return None
    sign, whole, above, below = last.groups()
    number = Decimal((sign or "") + above.replace(",", ""))
    if below is None:
        return number
    under = Decimal(below.replace(",", ""))
    if len(last[0]) > 1000 or not under or (whole and not abs(number) < under):
        return None
    return Fraction(number) / Fraction(under) + int(f"{sign or ''}{whole or 0}")


def grade(sample, item):
    """1 when the last number of the answer has the value of the reference's last number."""
    expected = last_number(str(item[REFERENCE_KEY]))
    return float(expected is not None and last_number(said(sample["output_text"])) == expected)
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


def last_number_source(key: str) -> str:
    parts = {
        "THINKING_LINES": _lines(THINKING_LINES),
        "MINUS_SIGNS": MINUS_SIGNS,
        "GROUP_MARKS": GROUP_MARKS,
        "FRACTION_STARTS": FRACTION_STARTS,
        "FRACTION_CHARACTERS": FRACTION_CHARACTERS,
        "FRACTION_LINES": _lines(FRACTION_LINES),
        "FRACTION_BARS": FRACTION_BARS,
        "NUMERAL_LINES": _lines(NUMERAL_LINES),
        _KEY: repr(key),
    }
    source = _LAST_NUMBER
    for name, text in parts.items():
        source = source.replace(name, text)
    return source


def json_fields_source(key: str) -> str:
    return _JSON_FIELDS.replace(_KEY, repr(key))


def _lines(patterns: tuple[str, ...]) -> str:
    return "\n".join(f'    r"{line}"' for line in patterns) + ","
