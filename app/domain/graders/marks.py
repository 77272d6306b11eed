"""Long runs of combining marks, which take quadratic time to normalise. Pure."""

import re
import unicodedata
from functools import cache
from typing import Final

MAX_MARKS: Final = 30
"""Combining marks in a row. Source: Unicode Standard Annex 15, Stream-Safe Text Format."""
LONG_RUN: Final = f"a text has more than {MAX_MARKS} combining marks in a row"
_MARKS_END: Final = 0x20000
"""No character from here on is a combining mark."""


def has_long_run_of_marks(text: str) -> bool:
    """Says if normalising would sort a long run of marks, which takes quadratic time."""
    if text.isascii():
        return False
    return any(run.end() - run.start() > MAX_MARKS for run in _marks().finditer(text))


@cache
def _marks() -> re.Pattern[str]:
    """Finds runs of marks: characters that are marks once they are decomposed."""
    decomposed = (
        (each, unicodedata.normalize("NFKD", each)) for each in map(chr, range(_MARKS_END))
    )
    marks = "".join(each for each, parts in decomposed if unicodedata.combining(parts[0]))
    return re.compile(f"[{marks}]+")
