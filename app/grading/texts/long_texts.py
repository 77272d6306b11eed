"""Searches long texts in pieces, so that the interpreter lock is released between them."""

import re
from collections.abc import Iterator
from typing import Final

_PIECE: Final = 16_384
"""Number of characters in which one search finds the beginnings of matches."""
_RUN: Final = re.compile(r"[\s\\]{1,1024}")
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
    """Returns the text with another one in the place of the matches in each piece. No piece ends in
    a run of blanks and backslashes, unless that is a long one; any other match across two pieces is
    looked for in each of them by itself.
    """
    done, at = list[str](), 0
    while at < len(text):
        end = at + _PIECE
        run = _RUN.match(text, max(at, end - 1))
        if run is not None and end < len(text):
            end = run.end() + 1
        done.append(pattern.sub(by, text[at:end]))
        at = end
    return "".join(done)
