"""Parses JSON as the standard has it: Python's parser also takes NaN, Infinity and 1e999."""

import json
import math
from typing import Any, NoReturn

_SHOWN = 20
"""Characters of a number that a message repeats."""


def strict_loads(text: str) -> Any:
    """Returns the parsed value. Raises `ValueError`, also for numbers that a float cannot have, and
    `RecursionError` for text that is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):  # `json.dumps` would write Infinity, which is not JSON
        raise ValueError(f"{text[:_SHOWN]} is out of range")
    return number
