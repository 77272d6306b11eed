"""Keyset pages: one row more than asked for tells whether there are more."""

from collections.abc import Sequence
from typing import TypeVar

from app.domain.errors import InvalidRequest

Row = TypeVar("Row")


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], bool]:
    """The page, and whether another one follows."""
    return list(rows[:limit]), len(rows) > limit


def unknown_cursor(after: str) -> InvalidRequest:
    return InvalidRequest(f"No object with id '{after}' to continue after.", param="after")
