"""The gain of a job between two validations, with its 95 % interval. Pure.

Owns when a gain is clear: when its interval leaves out 0. The interval is Student's t over the
held-out rows, each compared with itself; where only curves are left, it is that of two means.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Final

FEWEST_ROWS: Final = 6
"""Rows from which on there is an interval: of 1 row it would have no width, and of 2 it would leave
out the truth in every second job.
"""
_TAIL: Final = 0.975

Interval = tuple[float, float]


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
    differences = [after[row] - before[row] for row in before if row in after]
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


def t_quantile(freedom: int, *, tail: float = 1 - _TAIL) -> float:
    """Returns the quantile of Student's t with this probability above it: Abramowitz & Stegun,
    26.7.5.
    """
    z = -NormalDist().inv_cdf(tail)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
