"""Formats values for people. Pure."""

import json
import math
from datetime import UTC, datetime
from typing import Any, Final

CUT_AT: Final = 4000
"""Characters of a text that a page shows; the raw JSON has all of it."""
LONG_CUT_AT: Final = 20_000
"""Characters of an answer, of a tool's output or of a command that a page shows."""
_DEEPEST: Final = 20
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_ABSENT: Final = "–"
_LARGE: Final = 1e6
_SMALL: Final = 1e-3


def number(value: float | None) -> str:
    """Formats with three digits behind the leading one; counts have separators of thousands."""
    if value is None or not math.isfinite(value):
        return _ABSENT
    if value == int(value) and abs(value) < _LARGE * _LARGE:
        return f"{int(value):,}"
    if abs(value) >= _LARGE or abs(value) < _SMALL:
        return f"{value:.3g}"
    return f"{value:.4g}"


def share(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.1%}"


def change(value: float | None) -> str:
    """Formats a difference with its sign."""
    if value is None:
        return _ABSENT
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{number(abs(value))}"


def duration(seconds: float | None) -> str:
    """Formats the two largest units, such as `1 h 5 min` or `250 ms`."""
    if seconds is None:
        return _ABSENT
    if 0 < seconds < 1:
        return f"{max(1, round(1000 * seconds))} ms"
    left = round(seconds)
    if left < _MINUTE:
        return f"{number(round(seconds, 1))} s"
    if left < _HOUR:
        return f"{left // _MINUTE} min {left % _MINUTE} s"
    if left < _DAY:
        return f"{left // _HOUR} h {left % _HOUR // _MINUTE} min"
    return f"{left // _DAY} d {left % _DAY // _HOUR} h"


def moment(unix: float | None) -> str:
    if unix is None:
        return _ABSENT
    return f"{datetime.fromtimestamp(unix, UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(unix: float) -> str:
    return datetime.fromtimestamp(unix, UTC).isoformat()


def words(name: str) -> str:
    """Writes a name of the API as words: `validating_files` as `validating files`."""
    return name.replace("_", " ")


def cut(text: str, length: int = CUT_AT) -> str:
    """Cuts a text and says by how much."""
    left_out = len(text) - length
    return text if left_out <= 0 else f"{text[:length]}… ({left_out:,} more characters)"


def pretty(value: Any) -> str:
    """Formats JSON, or a text that is JSON, on several lines. Any other text is unchanged, and so
    is deeply nested JSON, whose indentation would be far longer than its content.
    """
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply for a page; the raw JSON has it)"
    if len(text) > CUT_AT or _depth(text) > _DEEPEST:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _depth(text: str) -> int:
    """Returns how deep brackets are nested in a text, those in quotes included."""
    depth = deepest = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest
