"""Parses JSON as the standard has it: Python's parser also takes NaN, Infinity and 1e999."""

import json
import math
import re
from typing import Any, NoReturn

_SURROGATE = re.compile(r"\\u[dD]")
_SHOWN = 20
"""Characters of a number that a message repeats."""


def strict_loads(text: str) -> Any:
    """Returns the parsed value. Raises `ValueError`, also for numbers that a float cannot have and
    for half of a surrogate pair, which is not text, and `RecursionError` for text that is nested
    too deeply.
    """
    value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("it has half of a surrogate pair") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):  # `json.dumps` would write Infinity, which is not JSON
        raise ValueError(f"{text[:_SHOWN]} is out of range")
    return number
