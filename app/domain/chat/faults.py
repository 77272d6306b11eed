"""Errors for a chat's fields with the messages and codes of the hosted API."""

import json
from collections.abc import Iterable
from typing import Any, Final

from app.domain.errors import InvalidRequest

_SHOWN: Final = 64
"""Largest number of characters of a refused value in a message."""
_KINDS: Final = {
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def invalid_type(param: str, expected: str, value: Any) -> InvalidRequest:
    """Returns the error for a wrong type; `expected` has its article: `a string`."""
    found = _KINDS.get(type(value), "something else")
    instead = "null" if value is None else f"{found} instead"
    return InvalidRequest(
        f"Invalid type for '{param}': expected {expected}, but got {instead}.",
        param=param,
        code="invalid_type",
    )


def unknown_parameter(param: str) -> InvalidRequest:
    return InvalidRequest(
        f"Unknown parameter: '{param}'. Remove it.", param=param, code="unknown_parameter"
    )


def invalid_value(param: str, reason: str) -> InvalidRequest:
    """Returns the error for a wrong value; `reason` is a clause without a full stop."""
    return InvalidRequest(f"Invalid '{param}': {reason}.", param=param, code="invalid_value")


def not_one_of(param: str, value: Any, supported: Iterable[str]) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid value: {shown_value(value)}. Supported values are: {_listed(supported)}.",
        param=param,
        code="invalid_value",
    )


def unsupported_value(param: str, value: Any, supported: Iterable[Any]) -> InvalidRequest:
    """Refuses a value that the hosted API knows and this service does not."""
    return InvalidRequest(
        f"Unsupported value: '{param}' does not support {shown_value(value)} here. "
        f"Supported values are: {_listed(supported)}.",
        param=param,
        code="unsupported_value",
    )


def unsupported_parameter(param: str, cure: str) -> InvalidRequest:
    """Refuses a parameter that the hosted API knows and this service does not. `cure` is a whole
    sentence.
    """
    return InvalidRequest(
        f"Unsupported parameter: '{param}' is not supported here. {cure}",
        param=param,
        code="unsupported_parameter",
    )


def too_low(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    """Returns the error for a value that is too low; `kind` is `integer` or `decimal`; `bound` is
    `>= 0` or `> 0`.
    """
    return InvalidRequest(
        f"Invalid '{param}': {kind} below minimum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_below_min_value",
    )


def too_high(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid '{param}': {kind} above maximum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_above_max_value",
    )


def shown_value(value: Any) -> str:
    """Returns a value as a message repeats it: texts in quotes, the rest as JSON, cut if long."""
    if isinstance(value, str):
        return f"'{value[:_SHOWN]}'"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 200:
        return "a very large number"  # Python refuses to print integers of 5,000 digits
    return json.dumps(value)[:_SHOWN]


def _listed(values: Iterable[Any]) -> str:
    quoted = [shown_value(value) for value in values]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
