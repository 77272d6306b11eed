"""The difficulty of a row, from 0 (easiest) to 1 (hardest), by which orderings of jobs go. Pure."""

from collections.abc import Mapping
from typing import Any, Final

UNREAD_DIFFICULTY: Final = "unread_difficulty"
UNREAD_DIFFICULTY_MESSAGE: Final = (
    "A 'difficulty' is no number from 0 (easiest) to 1 (hardest): an ordering of a job does not "
    "read it."
)


def difficulty_of(row: Mapping[str, Any]) -> float | None:
    """Returns the difficulty; `None` for a row without one that is read."""
    value = row.get("difficulty")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= 1 else None


def has_unread_difficulty(row: Mapping[str, Any]) -> bool:
    return row.get("difficulty") is not None and difficulty_of(row) is None
