"""The gain of a job between two validations, with its 95 % interval. Pure.

Owns the rule for a clear gain: its interval does not contain 0. The interval is Student's t over
the paired held-out rows or, if only curves remain, over two means. It is wider while the job runs,
because one of many looks may show a gain by chance.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from app.domain.jobs.curves.students_t import t_quantile
from app.domain.rollouts.metrics import TIE

FEWEST_ROWS: Final = 6
"""Smallest number of rows with an interval: for 1 row it would have no width, and for 2 it would
miss the true value in every second job.
"""
_TOTAL_ERROR_PROBABILITY: Final = 0.05
"""Probability that any of the looks of a job shows a gain by chance."""

Interval = tuple[float, float]


def error_probability(look: int) -> float:
    """Returns the error probability of look k of a job, 0.05/(k (k + 1)): 0.025 for the first, and
    in total at most 0.05 for any number of looks.
    """
    return _TOTAL_ERROR_PROBABILITY / (look * (look + 1))


def is_too_few(rows: int, deviation: float, *, tail: float) -> bool:
    """Returns whether there is no interval with this tail: for too few rows, or so few equal ones
    that by chance alone all would have the same sign with this probability.
    """
    return rows < FEWEST_ROWS or (deviation <= TIE and 0.5**rows > tail)


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
            why = "its noise is not known" if self.rows is None else "too few for an interval"
            return f"{self.mean:+.3g}{over} ({why})"
        low, high = self.interval
        kind, allowed = "95 % interval", ""
        if self.looks > 1:
            kind, allowed = "interval", f", which allows for {self.looks} validations"
        return f"{self.mean:+.3g}{over}, {kind} {low:+.3g} to {high:+.3g}{allowed}"


def paired_gain(
    before: Mapping[int, float], after: Mapping[int, float], *, looks: int = 1
) -> Gain | None:
    """Returns the gain over the shared rows; `None` without any. `looks` is the number of
    validations at which the gain was or could have been evaluated.
    """
    differences = [difference(before[row], after[row]) for row in before if row in after]
    count = len(differences)
    if not count:
        return None
    mean = fmean(differences)
    deviation = stdev(differences) if count > 1 else 0.0
    tail = error_probability(looks)
    if is_too_few(count, deviation, tail=tail):
        return Gain(mean, None, count, looks)
    reach = t_quantile(count - 1, tail=tail) * deviation / math.sqrt(count)
    return Gain(mean, (mean - reach, mean + reach), count, looks)


def unpaired_gain(rise: float, error: float, *, samples: int, looks: int = 1) -> Gain:
    """Returns the gain between two means whose difference has this standard error, from this number
    of independent values. An error of 0 proves nothing: a few equal values are common by chance.
    """
    if samples < FEWEST_ROWS or error <= TIE:
        return Gain(rise, None, looks=looks)
    reach = t_quantile(samples - 1, tail=error_probability(looks)) * error
    return Gain(rise, (rise - reach, rise + reach), looks=looks)
