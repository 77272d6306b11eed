"""Sources of the python graders that `auto` chooses; the key of the reference is filled in.

They are part of the chosen grader, which a customer may read and change.
"""

from typing import Final

_KEY: Final = "REFERENCE_KEY"
_LAST_NUMBER: Final = '''\
import re
from decimal import Decimal

NUMBER = re.compile(
    r"(?:(?<![\\w.])-)?(?:(?<![\\w.])(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?|(?<![\\w.])\\.\\d+)"
    r"(?:[eE][+-]?\\d{1,4}\\b)?",
    re.ASCII,
)


def last_number(text):
    found = NUMBER.findall(text)
    return Decimal(found[-1].replace(",", "")) if found else None


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
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


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
    return _LAST_NUMBER.replace(_KEY, repr(key))


def json_fields_source(key: str) -> str:
    return _JSON_FIELDS.replace(_KEY, repr(key))
