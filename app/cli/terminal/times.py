"""Formats times and durations for commands."""

import math
from datetime import UTC, datetime
from typing import Final

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
