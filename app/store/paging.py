"""Keyset pages: one row more than asked for tells whether there are more."""

from collections.abc import Sequence
from typing import Final, TypeVar

from app.domain.errors import InvalidRequest

Row = TypeVar("Row")
MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""Of rows that may be large each: a hundred of 4 MB would take a gigabyte to answer."""


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], bool]:
    """The page, and whether another one follows."""
    return list(rows[:limit]), len(rows) > limit


def fitting(sizes: Sequence[int], limit: int) -> int:
    """How many rows of these sizes in bytes a page may hold: at most `limit`, one at least."""
    count, total = 0, 0
    for size in sizes[:limit]:
        total += size
        if count and total > MAX_PAGE_BYTES:
            break
        count += 1
    return count


def unknown_cursor(after: str) -> InvalidRequest:
    return InvalidRequest(f"No object with id '{after}' to continue after.", param="after")
