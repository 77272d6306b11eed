"""Draws curves as columns of block characters, which every terminal has."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final

from app.cli.printable import printable

Points = Sequence[tuple[int, float]]
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_FULL: Final = len(_BLOCKS) - 1
_SCALE: Final = 10
"""Columns of the numbers at the left."""


def chart(series: Mapping[str, Points], *, width: int, height: int) -> str:
    """Returns lines of text: under the label of each curve its columns, `height` lines high. All
    curves share the steps from left to right; each has a scale of its own.
    """
    drawn = {label: sorted(points) for label, points in series.items() if points}
    steps = [step for points in drawn.values() for step, _ in points]
    lines = []
    for label, points in drawn.items():
        lines.append(printable(label))
        lines += _columns(points, min(steps), max(steps), width=width - _SCALE - 2, height=height)
    if drawn:
        lines.append(f"{'step':>{_SCALE}}  {min(steps)} to {max(steps)}")
    return "\n".join(lines)


def _columns(points: Points, first: int, last: int, *, width: int, height: int) -> list[str]:
    values = [value for _, value in points]
    low, high = min(values), max(values)
    levels = [_level(one, low, high, height * _FULL) for one in _spread(points, first, last, width)]
    lines = []
    for row in reversed(range(height)):
        number = {height - 1: f"{high:.4g}", 0: f"{low:.4g}"}.get(row, "")
        cells = (_BLOCKS[min(max(level - row * _FULL, 0), _FULL)] for level in levels)
        lines.append(f"{number:>{_SCALE}} │{''.join(cells)}".rstrip())
    return lines


def _spread(points: Points, first: int, last: int, width: int) -> list[float | None]:
    """Returns the newest value at each column's step; `None` before the first."""
    steps = [step for step, _ in points]
    found: list[float | None] = []
    for column in range(width):
        at = bisect_right(steps, first + (last - first) * column / max(width - 1, 1))
        found.append(points[at - 1][1] if at else None)
    return found


def _level(value: float | None, low: float, high: float, top: int) -> int:
    """Returns the height of a column in eighths of a line: 1 for the lowest value."""
    if value is None:
        return 0
    return top // 2 if high == low else 1 + round((value - low) / (high - low) * (top - 1))
