"""Replaces the characters of a text that UTF-8 or Postgres' jsonb cannot hold."""

import re
from typing import Final

UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""U+0000, and halves of surrogate pairs."""


def storable(text: str) -> str:
    """Returns the text with each unstorable character replaced by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)
