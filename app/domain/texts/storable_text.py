"""Finds and replaces the characters of a text that UTF-8 or Postgres' jsonb cannot store."""

import re
from collections.abc import Iterator
from typing import Any, Final

UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""U+0000, and halves of surrogate pairs."""


def storable(text: str) -> str:
    """Returns the text with each unstorable character replaced by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def excerpt(text: str, *, most: int) -> str:
    """Returns an external text for use in a message: cut to a number of characters, with U+FFFD for
    control characters.
    """
    cut = text if len(text) <= most else text[:most] + "…"
    return "".join(each if each.isprintable() else "\ufffd" for each in cut)


def first_unstorable(value: Any) -> str | None:
    """Returns the first unstorable character in the texts and keys of a JSON value."""
    found = (UNSTORABLE.search(text) for text in _strings(value))
    return next((character[0] for character in found if character is not None), None)


def has_nul(value: Any) -> bool:
    """Returns whether U+0000 is in a text or key of a JSON value."""
    return any("\x00" in text for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
