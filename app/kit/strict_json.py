"""Parses JSON strictly by the standard: Python's parser also accepts NaN, Infinity and 1e999."""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NoReturn

from app.kit.texts import first_unstorable

MAX_VALUES: Final = 25_000
"""Values of a body or a text of JSON. Readers of 90,000 block the event loop for 140 ms."""
MAX_DEPTH: Final = 100
"""Depth limit of requests, rows and answers. Deeper ones would overflow some readers."""
_SURROGATE: Final = re.compile(r"\\u[dD]")
# A string that nothing closes matches too, as far as it goes: each character is read once.
_STRUCTURE: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[,\[{]', re.DOTALL)
_SHOWN: Final = 20


class TooManyValues(ValueError):
    def __init__(self, most: int) -> None:
        super().__init__(f"it contains more than {most} values")


def strict_loads(text: str, *, most: int | None = MAX_VALUES, unambiguous: bool = False) -> Any:
    """Returns the parsed value. Raises `ValueError`, also for numbers that a float cannot have and
    for half of a surrogate pair, which is not text, `TooManyValues` for more than `most` values,
    and `RecursionError` for text that is nested too deeply. `unambiguous` refuses a key that is
    given twice, as in a request's body, and a whole number beyond any float.
    """
    if most is not None and has_too_many_values(text, most):
        raise TooManyValues(most)
    value = json.loads(
        text,
        parse_constant=refuse_constant,
        parse_float=finite_number,
        parse_int=finite_integer if unambiguous else whole_number,
        object_pairs_hook=unambiguous_object if unambiguous else None,
    )
    if most is not None and text.count(",") >= most and count_values(value) > most:
        raise TooManyValues(most)
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("it has half of a surrogate pair") from None
    return value


def has_too_many_values(text: str | bytes, most: int = MAX_VALUES) -> bool:
    """Counts before objects are built. Up to twice as many as `most` may pass."""
    # In Latin-1 every byte is a character, and the marks of JSON are the same.
    text = text if isinstance(text, str) else text.decode("latin-1")
    if text.count(",") + text.count("[") + text.count("{") <= most:
        return False
    found = (match[0][:1] == '"' for match in _STRUCTURE.finditer(text))
    values = 0
    for tokens, is_string in enumerate(found):
        values += not is_string
        # A comma separates two strings of JSON: a text with more strings than values is not JSON.
        if values > 2 * most or tokens > 4 * most:
            return True
    return False


def count_values(value: Any) -> int:
    return sum(len(outer) for level in _levels(value) for outer in level)


def is_too_deep(value: Any, source: bytes | None = None) -> bool:
    """Returns whether objects and lists are within each other on more than `MAX_DEPTH` levels. The
    text that the value was read from spares the walk: few have so many brackets.
    """
    if source is not None and source.count(b"[") + source.count(b"{") <= MAX_DEPTH:
        return False
    return any(True for _ in islice(_levels(value), MAX_DEPTH, None))


def _levels(value: Any) -> Iterator[list[dict[str, Any] | list[Any]]]:
    level = [value] if isinstance(value, dict | list) else []
    while level:
        yield level
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):  # `json.dumps` would write Infinity, which is not JSON
        length = "" if len(text) <= _SHOWN else f", {len(text)} characters long,"
        raise ValueError(
            f"{text[:_SHOWN]}{length} is out of range: the largest number is "
            f"{sys.float_info.max:.4g}"
        )
    return number


def finite_integer(text: str) -> int:
    """Raises `ValueError` for a number beyond the largest float: many other parsers would fail."""
    if len(text) > sys.float_info.max_10_exp:
        finite_number(text)
    return int(text)


def whole_number(text: str) -> int:
    """Returns the whole number of a JSON text; checks of parameters refuse one out of bounds."""
    digits, most = len(text.lstrip("-")), sys.get_int_max_str_digits()
    if 0 < most < digits:  # Python's own message names a setting
        raise ValueError(f"{text[:_SHOWN]}… has {digits} digits, and a number at most {most}")
    return int(text)


def unambiguous_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object. Raises `ValueError` for a key that is given twice: one value is lost."""
    value = dict(pairs)
    if len(value) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"an object contains the key {twice[:_SHOWN]!r} twice")
    return value


MAX_JSON_BYTES: Final = 4 * 1024 * 1024


class UnusableJson(ValueError):
    """A body that cannot be served; the text is the reason."""


def read_json(body: bytes) -> Any:
    if has_too_many_values(body):
        raise UnusableJson(TooManyValues(MAX_VALUES))
    try:
        value = json.loads(
            body,
            parse_constant=refuse_constant,
            parse_float=finite_number,
            parse_int=whole_number,
            object_pairs_hook=unambiguous_object,
        )
        _check_shape(value, body)
    except RecursionError:
        raise UnusableJson(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeDecodeError:
        raise UnusableJson("it is not UTF-8") from None
    except ValueError as error:
        raise UnusableJson(error) from error
    return value


def json_problem(body: bytes) -> str | None:
    try:
        read_json(body)
    except UnusableJson as problem:
        return str(problem)
    return None


def _check_shape(value: Any, body: bytes) -> None:
    """Refuses deep nesting and too many values, because each later reader visits every value."""
    if is_too_deep(value, body):
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    opened = body.count(b"[") + body.count(b"{")
    if (opened > MAX_DEPTH or body.count(b",") >= MAX_VALUES) and count_values(value) > MAX_VALUES:
        raise TooManyValues(MAX_VALUES)
    # Without an escape sequence, UTF-8 has no surrogate and JSON no control character.
    unstorable = first_unstorable(value) if b"\\u" in body else None
    if unstorable is not None:
        fault = "NUL character" if unstorable == "\x00" else "lone surrogate"
        raise ValueError(f"it contains a {fault}")
