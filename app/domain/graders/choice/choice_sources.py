"""Sources of the python graders that `auto` chooses; the key of the reference is filled in.

They are part of the chosen grader, which a customer may read and change.
"""

from typing import Final

from app.domain.graders.texts.numerals import GROUP_MARKS, MINUS_SIGNS, NUMERAL_LINES

_KEY: Final = "REFERENCE_KEY"
_NUMERAL: Final = "NUMERAL_LINES"
_MINUS: Final = "MINUS_SIGNS"
_GROUP: Final = "GROUP_MARKS"
_LAST_NUMBER: Final = '''\
import re
from decimal import Decimal

MINUS = re.compile(r"MINUS_SIGNS")
COMMA = re.compile(r"GROUP_MARKS")
NUMBER = re.compile(
NUMERAL_LINES
    re.ASCII,
)


def last_number(text):
    """The value of the last number of a text; a sign may stand before or behind a currency mark."""
    found = NUMBER.findall(COMMA.sub(",", MINUS.sub("-", text)))
    return Decimal("".join(found[-1]).replace(",", "")) if found else None


def grade(sample, item):
    """1 when the last number of the answer has the value of the reference's last number."""
    expected = last_number(str(item[REFERENCE_KEY]))
    return float(expected is not None and last_number(sample["output_text"]) == expected)
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
    parts = {_NUMERAL: _numeral_source(), _MINUS: MINUS_SIGNS, _GROUP: GROUP_MARKS, _KEY: repr(key)}
    source = _LAST_NUMBER
    for name, text in parts.items():
        source = source.replace(name, text)
    return source


def json_fields_source(key: str) -> str:
    return _JSON_FIELDS.replace(_KEY, repr(key))


def _numeral_source() -> str:
    lines = [f'    r"{line}"' for line in NUMERAL_LINES]
    return "\n".join(lines) + ","
