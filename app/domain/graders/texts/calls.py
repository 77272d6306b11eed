"""Reads one tool call, or the calls that a row expects, from JSON.

Owns the keys of a call: its function is under `name`, `function` or `tool`, its arguments under
`arguments`, `parameters`, `args` or `input`; the chat form has both under `function`. Null or blank
arguments count as no arguments; other arguments that are not a JSON object are unreadable, which is
not the same as none. Must not know the formats of calls in texts or how calls are scored.
"""

import re
from dataclasses import dataclass
from json import JSONDecoder
from typing import Any, Final

from app.domain.texts.strict_json import (
    MAX_VALUES,
    TooManyValues,
    has_too_many_values,
    strict_loads,
)

MAX_EXPECTED: Final = 64
"""Calls that a reference can have."""
_NAMES: Final = ("name", "function", "tool")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_VALUE: Final = re.compile(r"[^ \t\r\n,;]")
_DECODER: Final = JSONDecoder()
_OTHERS: Final = frozenset({"id", "call_id", "index", "type"})
"""Further keys that a call may have besides function and arguments."""


class ReferenceFault(ValueError):
    """A reference without calls. The text is for its author."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    name: str
    arguments: dict[str, Any] | None
    """`None` if they cannot be read."""


def call_of(entry: Any) -> WrittenCall | None:
    """Returns the call of a JSON value, `None` if it names no function."""
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    if isinstance(function, dict):
        return call_of(function) if not isinstance(function.get("function"), dict) else None
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is None:
        return None
    sent = next((entry[key] for key in _ARGUMENTS if key in entry), None)
    return WrittenCall(name, arguments_of(sent))


def arguments_of(sent: Any) -> dict[str, Any] | None:
    """Returns arguments that are an object or the JSON text of one; `None` for any others."""
    if sent is None or (isinstance(sent, str) and not sent.strip()):
        return {}
    value = json_of(sent) if isinstance(sent, str) else sent
    return value if isinstance(value, dict) else None


def json_of(text: str) -> Any:
    """Returns the value of a JSON text, `None` for any other text and for too many values."""
    try:
        return strict_loads(text)
    except (ValueError, RecursionError):
        return None


def values_of(text: str) -> list[Any]:
    """Returns the value of a JSON text, or the objects and lists of several in a row; none where a
    part is neither, or where no part can have an object, as a call is one.
    """
    if "{" not in text or "}" not in text:  # an answer may have 100,000 blocks that hold no call
        return []
    value = json_of(text)
    if value is not None or has_too_many_values(text):
        return [value]
    found, position = list[Any](), 0
    try:
        while (start := _VALUE.search(text, position)) is not None:
            if start[0] not in "{[":
                return []
            _, position = _DECODER.raw_decode(text, start.start())
            found.append(strict_loads(text[start.start() : position]))
    except (ValueError, RecursionError):
        return []
    return found


def is_plainly_a_call(entry: Any) -> bool:
    """Returns whether a value has one name, one key of arguments, and only keys of a call, unlike
    an ordinary answer such as `{"name": "Ulm", "population": 120000}`.
    """
    if not isinstance(entry, dict):
        return False
    function = entry.get("function")
    if isinstance(function, dict):
        entry = {**entry, **function}
        if not isinstance(function.get("function"), str):
            del entry["function"]
    names = [key for key in _NAMES if key in entry]
    arguments = [key for key in _ARGUMENTS if key in entry]
    return len(names) == len(arguments) == 1 and entry.keys() <= {*names, *arguments, *_OTHERS}


def expected_calls(text: str) -> list[WrittenCall]:
    """Returns the calls of a reference: one call or a list of them. Raises `ReferenceFault`."""
    try:
        value = strict_loads(text)
    except TooManyValues:
        raise ReferenceFault(f"'reference' contains more than {MAX_VALUES} values") from None
    except (ValueError, RecursionError):
        value = None
    entries = value if isinstance(value, list) else [value]
    calls = [call_of(entry) for entry in entries]
    named = [call for call in calls if call is not None]
    if len(named) < len(calls):
        raise ReferenceFault("'reference' is not a JSON list of calls with a name and arguments")
    if len(named) > MAX_EXPECTED:
        raise ReferenceFault(f"'reference' has more than {MAX_EXPECTED} calls")
    for call, entry in zip(named, entries, strict=True):
        if call.arguments is None:
            raise ReferenceFault(
                f"'reference' has a call of '{call.name[:40]}' whose arguments are not a JSON "
                f"object of at most {MAX_VALUES} values"
            )
        stray = _stray_key(entry)
        if stray is not None:
            raise ReferenceFault(
                f"'reference' has a call of '{call.name[:40]}' without 'arguments', "
                f"and with the unknown key '{stray[:40]}'"
            )
    return named


def _stray_key(entry: dict[str, Any]) -> str | None:
    """Returns the key of a call without arguments that was probably meant as its arguments."""
    function = entry.get("function")
    inner = function if isinstance(function, dict) else entry
    if any(key in inner for key in _ARGUMENTS):
        return None
    known = {*_NAMES, *_OTHERS}
    return next((key for keys in (inner, entry) for key in keys if key not in known), None)
