"""The JSON that the service takes as the body of a request, and the reasons why it takes no other.

`agent-rft validate` refuses the same bodies as the service.
"""

import json
from typing import Any, Final

from app.domain.texts.storable_text import first_unstorable
from app.domain.texts.strict_json import (
    MAX_DEPTH,
    MAX_VALUES,
    TooManyValues,
    count_values,
    finite_number,
    has_too_many_values,
    is_too_deep,
    refuse_constant,
    unambiguous_object,
    whole_number,
)

MAX_JSON_BYTES: Final = 4 * 1024 * 1024


class UnusableJson(ValueError):
    """A body that cannot be served; the text is the reason."""


def read_json(body: bytes) -> Any:
    """Returns the value of a body. Raises `UnusableJson`."""
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
        # Without an escape sequence, UTF-8 has no surrogate and JSON no control character.
        if b"\\u" in body:
            _check_text(value)
    except RecursionError:
        raise UnusableJson(f"it is nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeDecodeError:
        raise UnusableJson("it is not UTF-8") from None
    except ValueError as error:
        raise UnusableJson(error) from error
    return value


def json_problem(body: bytes) -> str | None:
    """Returns the reason why a body cannot be served as JSON, or `None`."""
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
    if opened <= MAX_DEPTH and body.count(b",") < MAX_VALUES:
        return
    if count_values(value) > MAX_VALUES:
        raise TooManyValues(MAX_VALUES)


def _check_text(value: Any) -> None:
    unstorable = first_unstorable(value)
    if unstorable is not None:
        fault = "NUL character" if unstorable == "\x00" else "lone surrogate"
        raise ValueError(f"it contains a {fault}")
