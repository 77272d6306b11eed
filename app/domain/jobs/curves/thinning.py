"""Thins a list to a given number of items."""

from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

_Item = TypeVar("_Item")


def thin(items: Sequence[_Item], count: int) -> list[_Item]:
    """Returns at most `count` evenly spaced items in order, including the first and the last; with
    a `count` of 1 only the last.
    """
    if len(items) <= count:
        return list(items)
    if count == 1:
        return [items[-1]]
    last = len(items) - 1
    return [items[round(index * last / (count - 1))] for index in range(count)]


def extremes(values: Sequence[float], count: int) -> list[int]:
    """Returns the indices of at most `count` values, in order, such that no spike is lost: the
    first and the last, and between them the lowest and the highest of stretches of equal length.
    With a `count` of 1 it is only the last.
    """
    last = len(values) - 1
    if len(values) <= count:
        return list(range(len(values)))
    if count == 1:
        return [last]
    stretches = (count - 2) // 2
    between = range(1, last)
    chosen = {0, last}
    for _, indices in groupby(between, lambda index: (index - 1) * stretches // (last - 1)):
        if stretches:
            each = list(indices)
            chosen |= {min(each, key=values.__getitem__), max(each, key=values.__getitem__)}
    return sorted(chosen)
