"""Thins a list to as many items as a reader can use."""

from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def thin(items: Sequence[_Item], count: int) -> list[_Item]:
    """Returns at most `count` evenly spaced items in order, the first and the last among them; one
    alone is the last.
    """
    if len(items) <= count:
        return list(items)
    if count == 1:
        return [items[-1]]
    last = len(items) - 1
    return [items[round(index * last / (count - 1))] for index in range(count)]
