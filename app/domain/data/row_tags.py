"""The tags of a row: the values of one of its fields, by which rows are compared. Pure."""

from collections.abc import Mapping
from typing import Any, Final

TAG_FIELD: Final = "tags"
"""The field that is looked at unless another is named."""
_LONGEST: Final = 80
_MOST: Final = 20
"""Tags of one row; further ones are not looked at."""


def tags_of(row: Mapping[str, Any], field: str = TAG_FIELD) -> list[str]:
    """Returns the field's value as a tag, or each value of a list. Objects are no tags."""
    value = row.get(field)
    values = value[:_MOST] if isinstance(value, list) else [value]
    tags = [_text(one)[:_LONGEST] for one in values if isinstance(one, str | int | float)]
    return list(dict.fromkeys(tag for tag in tags if tag))


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value.strip()
    try:
        return f"{value:g}"
    except OverflowError:  # a whole number that is larger than any of floating point
        return str(value)
