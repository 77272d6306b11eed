"""The gain of a job between two validations, with its 95 % interval. Pure.

Owns the rule for a clear gain: its interval does not contain 0, and a gain without one is not
clear. The interval is Student's t over the paired held-out rows (Gaffke's where hardly any row
differs) or, if only curves remain, over two means. It is wider while the job runs, because one of
many looks may show a gain by chance.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from app.domain.jobs.curves.intervals import (
    FEWEST_ROWS,
    Interval,
    Range,
    interval_of_mean,
    range_of_differences,
)
from app.domain.jobs.curves.students_t import t_quantile
from app.domain.rollouts.metrics import TIE

_TOTAL_ERROR_PROBABILITY: Final = 0.05
"""Probability that any of the looks of a job shows a gain by chance."""


def error_probability(look: int) -> float:
    """Returns the error probability of look k of a job, 0.05/(k (k + 1)): 0.025 for the first, and
    in total at most 0.05 for any number of looks.
    """
    return _TOTAL_ERROR_PROBABILITY / (look * (look + 1))


def difference(before: float, after: float) -> float:
    """Returns the increase of a value; 0 for a rounding error."""
    rise = after - before
    return 0.0 if abs(rise) <= TIE else rise


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a job; positive if the model improved."""

    mean: float
    interval: Interval | None
    """`None` where it cannot be computed."""
    rows: int | None = None
    """Rows that were compared; `None` where they are not known."""
    looks: int = 1
    """Number of looks for which the interval is corrected."""

    @property
    def is_clear(self) -> bool:
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]

    @property
    def words(self) -> str:
        noun = "row" if self.rows == 1 else "rows"
        over = "" if self.rows is None else f" over {self.rows} {noun}"
        if self.interval is None:
            return f"{self.mean:+.3g}{over} ({self._why_none})"
        low, high = self.interval
        kind, allowed = "95 % interval", ""
        if self.looks > 1:
            kind, allowed = "interval", f", which allows for {self.looks} validations"
        return f"{self.mean:+.3g}{over}, {kind} {low:+.3g} to {high:+.3g}{allowed}"

    @property
    def _why_none(self) -> str:
        if self.rows is None:
            return "its noise is not known"
        if self.rows < FEWEST_ROWS:
            return "too few for an interval"
        return "too few of them differ for an interval"


def paired_gain(
    before: Mapping[int, float],
    after: Mapping[int, float],
    *,
    looks: int = 1,
    bounds: Range | None = None,
) -> Gain | None:
    """Returns the gain over the shared rows; `None` without any. `looks` is the number of
    validations at which the gain was or could have been evaluated, `bounds` the range of the
    values: without one, a gain of rows that hardly differ has no interval.
    """
    differences = [difference(before[row], after[row]) for row in before if row in after]
    count = len(differences)
    if not count:
        return None
    mean, tail = fmean(differences), error_probability(looks)

    def of_student() -> Interval:
        reach = t_quantile(count - 1, tail=tail) * stdev(differences) / math.sqrt(count)
        return mean - reach, mean + reach

    of_differences = range_of_differences(bounds)
    interval = interval_of_mean(differences, of_differences, tail=tail, otherwise=of_student)
    return Gain(mean, interval, count, looks)


def unpaired_gain(rise: float, error: float, *, samples: int, looks: int = 1) -> Gain:
    """Returns the gain between two means whose difference has this standard error, from this number
    of independent values. An error of 0 proves nothing: a few equal values are common by chance.
    """
    if samples < FEWEST_ROWS or error <= TIE:
        return Gain(rise, None, looks=looks)
    reach = t_quantile(samples - 1, tail=error_probability(looks)) * error
    return Gain(rise, (rise - reach, rise + reach), looks=looks)
