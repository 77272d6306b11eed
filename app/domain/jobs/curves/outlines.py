"""The outline of a curve: few enough of its points for a chart, none of them made up. Pure.

A curve of up to `WHOLE` points is its own outline. A longer one has, of each block of steps, its
lowest, its highest and its last point. The database keeps blocks of the sizes in `BLOCK_SIZES`; the
outlines of a job use one of them, so that the last points of its curves share their steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.ids import Split
from app.domain.rollouts.metrics import MetricPoint, PackedCurve

WHOLE: Final = 512
"""Points up to which a curve is read whole."""
BLOCK_SIZES: Final = (8, 32, 128, 512, 2048)
"""Steps of a block. Triggers fill these sizes, see `migrations/initial/curve_blocks.py`."""
_MOST_BLOCKS: Final = 256
"""Blocks of an outline, up to which a size is chosen. The largest size has no limit."""

CurveKey = tuple[str, Split]
"""Name and split of a curve."""


@dataclass(frozen=True, slots=True)
class CurveSummary:
    """Count, sum and ends of a whole curve."""

    job_id: str
    name: str
    split: Split
    points: int
    total: float
    """Sum of the values."""
    first: MetricPoint
    last: MetricPoint

    @property
    def key(self) -> CurveKey:
        return self.name, self.split

    @property
    def ends(self) -> list[MetricPoint]:
        """The first and the last point, once if there is one point."""
        return [self.first, self.last] if self.points > 1 else [self.first]

    @property
    def is_long(self) -> bool:
        return self.points > WHOLE


@dataclass(frozen=True, slots=True)
class OutlinedCurves:
    """Curves for charts, each whole or as an outline, packed."""

    packed: Sequence[PackedCurve]
    summaries: Sequence[CurveSummary]

    def read(self) -> dict[CurveKey, dict[int, float]]:
        """Parses the curves. An outline gets the first point of its curve."""
        first = {one.key: one.first for one in self.summaries}
        read: dict[CurveKey, dict[int, float]] = {}
        for one in self.packed:
            start = first[one.name, one.split]
            read[one.name, one.split] = {start.step: start.value, **one.read()}
        return read

    @property
    def every(self) -> dict[str, int]:
        """Steps between two points that outlines of training share, by name of the curve."""
        return {one.name: one.every for one in self.packed if one.split == "train"}


def block_size(summaries: Sequence[CurveSummary]) -> int:
    """Returns the steps of a block in the outlines of a job; 1 if all of its curves are whole."""
    ends = [one.last.step for one in summaries if one.is_long]
    if not ends:
        return 1
    fitting = (size for size in BLOCK_SIZES if max(ends) < size * _MOST_BLOCKS)
    return next(fitting, BLOCK_SIZES[-1])
