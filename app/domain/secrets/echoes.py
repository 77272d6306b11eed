"""Credentials that a server repeats in what the service keeps of it.

Owns which sent values count as credentials, and their replacement. The standard library alone.
"""

import json
from collections.abc import Iterable
from typing import Final

from app.domain.secrets.urls import REDACTED

LEAST: Final = 8
"""Characters from which a sent value is looked for: a shorter one may be a word of any text."""


class Echoes:
    """The values of the headers that a server is sent, of `LEAST` characters or more. The
    credential of a value with a scheme, such as `Bearer …`, counts alone too.
    """

    def __init__(self, sent: Iterable[str]) -> None:
        values = {part for value in sent for part in (value, value.partition(" ")[2])}
        long = {value for value in values if len(value) >= LEAST}
        written = long | {json.dumps(value, ensure_ascii=False)[1:-1] for value in long}
        # The longest first: it may contain a shorter one.
        self._values = sorted(written, key=len, reverse=True)

    def hidden_in(self, text: str) -> str:
        """Returns the text, which may be JSON, with `[redacted]` in the place of each value."""
        for value in self._values:
            text = text.replace(value, REDACTED)
        return text
