"""Sources of the python graders that `auto` chooses; the key of the reference is filled in.

They are part of the chosen grader, which a customer may read and change.
"""

from typing import Final

from app.graders import answer_words as numerals
from app.graders import answer_words as thinking

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
        "THINKING_LINES": _lines(thinking.THINKING_LINES),
        "MINUS_SIGNS": numerals.MINUS_SIGNS,
        "GROUP_MARKS": numerals.GROUP_MARKS,
        "FRACTION_STARTS": numerals.FRACTION_STARTS,
        "FRACTION_CHARACTERS": numerals.FRACTION_CHARACTERS,
        "FRACTION_LINES": _lines(numerals.FRACTION_LINES),
        "FRACTION_BARS": numerals.FRACTION_BARS,
        "NUMERAL_LINES": _lines(numerals.NUMERAL_LINES),
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
