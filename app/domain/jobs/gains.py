"""The gain of a job between two validations, with its 95 % interval. Pure.

Owns when a gain is clear: when its interval leaves out 0. The interval is Student's t over the
held-out rows, each compared with itself; where only curves are left, it is that of two means.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Final

from app.domain.jobs.students_t import t_quantile

FEWEST_ROWS: Final = 6
"""Rows from which on there is an interval: of 1 row it would have no width, and of 2 it would leave
out the truth in every second job.
"""
_TAIL: Final = 0.975

TIE: Final = 1e-9
"""Difference up to which two values are equal: smaller ones are rounding errors."""

Interval = tuple[float, float]


def difference(before: float, after: float) -> float:
    """Returns by how much a value rose, 0 for a rounding error."""
    rise = after - before
    return 0.0 if abs(rise) <= TIE else rise


@dataclass(frozen=True, slots=True)
class Gain:
    """A difference; above 0 the model became better."""

    mean: float
    interval: Interval | None
    """`None` where it cannot be computed."""
    rows: int | None = None
    """Rows that were compared; `None` where they are not known."""

    @property
    def is_clear(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]

    @property
    def words(self) -> str:
        over = "" if self.rows is None else f" over {self.rows} rows"
        if self.interval is None:
            why = "its noise is not known" if self.rows is None else "too few for an interval"
            return f"{self.mean:+.3g}{over} ({why})"
        low, high = self.interval
        return f"{self.mean:+.3g}{over}, 95 % interval {low:+.3g} to {high:+.3g}"


def paired_gain(before: Mapping[int, float], after: Mapping[int, float]) -> Gain | None:
    """Returns the gain over the rows that both have; `None` without any."""
    differences = [difference(before[row], after[row]) for row in before if row in after]
    count = len(differences)
    if not count:
        return None
    mean = fmean(differences)
    if count < FEWEST_ROWS:
        return Gain(mean, None, count)
    reach = t_quantile(count - 1) * stdev(differences) / math.sqrt(count)
    return Gain(mean, (mean - reach, mean + reach), count)


def unpaired_gain(difference: float, *errors: float) -> Gain:
    """Returns the gain between two means with these standard errors."""
    reach = NormalDist().inv_cdf(_TAIL) * math.hypot(*errors)
    return Gain(difference, (difference - reach, difference + reach))
