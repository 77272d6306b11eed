"""Makes texts of a service safe for a terminal.

Models, tools and other users write them: a control sequence could move the cursor, set the title of
the window, fill the clipboard or disguise a line.
"""

import math
import re
from datetime import UTC, datetime
from typing import Final

_UNSAFE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1: escape sequences, carriage returns, backspaces
    "\xad\u061c\u180e\u200b\u200e\u200f"  # marks without a width
    "\u2028-\u202e\u2060-\u206f"  # line separators; embeddings, overrides and isolates
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff"  # halves of pairs, which no encoding has
)
_IN_LINES: Final = re.compile(f"[{_UNSAFE}]")
_IN_A_LINE: Final = re.compile(f"[{_UNSAFE}\t\n]")


def printable(text: str) -> str:
    """Returns the text on one line; each character that could change the terminal's other output is
    replaced by its code.
    """
    return _IN_A_LINE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """Returns the text with its own line breaks and tabs; other characters as `printable`."""
    return _IN_LINES.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


def moment(unix_s: float | None) -> str:
    if unix_s is None:
        return "-"
    try:
        return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):  # a service may answer any number
        return "-"


def duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "-"
    left = max(0, round(seconds))
    hours, minutes = left // _HOUR_S, left % _HOUR_S // _MINUTE_S
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {left % _MINUTE_S:02} s" if minutes else f"{left} s"
