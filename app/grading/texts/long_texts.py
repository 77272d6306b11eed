"""Searches long texts in pieces, so that the interpreter lock is released between them."""

import re
from collections.abc import Iterator
from typing import Final

_PIECE: Final = 16_384
"""Number of characters in which one search finds the beginnings of matches."""
_LONGEST: Final = 1_024
"""Number of characters that a match and the words around it may have."""


def matches_in(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yields the matches as `finditer` does. Other threads run between the pieces: one search of
    1.5 million characters would stop them for a second. The matches must have a length, and a
    longest one.
    """
    at = 0
    for end in range(_PIECE, len(text) + _PIECE, _PIECE):
        for found in pattern.finditer(text, at, end + _LONGEST):
            if found.start() >= end:
                break
            yield found
            at = found.end()
        at = max(at, end)


def replaced_in(pattern: re.Pattern[str], by: str, text: str) -> str:
    """Returns the text with another one in the place of the matches in each piece. A match across
    two pieces is looked for in each of them by itself.
    """
    starts = range(0, len(text), _PIECE)
    return "".join(pattern.sub(by, text[at : at + _PIECE]) for at in starts)
