"""Limits how deep JSON of a server or of the model is nested, so that its readers can recurse."""

from typing import Any, Final

MAX_DEPTH: Final = 100


def depth_fits(value: Any) -> bool:
    """Returns false for objects and lists that are nested more than `MAX_DEPTH` levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False
