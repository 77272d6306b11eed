"""The rule for the interval of a mean over rows, and the interval where resampling fails. Pure.

Owns the choice: resampling and Student's t take the spread of the rows for that of the truth, so
rows that happen to be equal would leave no doubt. Where too few rows differ, the interval follows
from the range of the values by Gaffke's limits, and values without a known range have none.

Gaffke's lower limit is a quantile of the mean under random weights of the rows, as in the Bayesian
bootstrap (Rubin 1981), with one row more at the lower end of the range: it stands for what was not
seen (Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable"; Learned-Miller & Thomas 2020, arXiv 1905.06208). For values at the ends of
the range alone it is the limit of Clopper and Pearson (1934), which is exact. For others its
coverage is a conjecture, which the simulations of `tests/app/domain/jobs/curves/test_intervals.py`
agree with.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from app.domain.rollouts.metrics import TIE

Interval = tuple[float, float]
"""Lower and upper limit of a mean, in the unit of its values."""
Range = tuple[float, float]
"""Lowest and highest possible value."""
FEWEST_ROWS: Final = 6
"""Smallest number of rows with an interval: for 1 row it would have no width, and for 2 it would
miss the true value in every second job.
"""
FEWEST_DIFFERING: Final = 5
"""Rows that differ from the most common value, from which the rows show the spread of values."""
UNIT_RANGE: Final = (0.0, 1.0)
Kinds = tuple[tuple[float, int], ...]
"""Distinct values, in order, each with its number of rows."""
_DIGITS: Final = 9
"""Decimal digits by which values differ: those of `TIE`."""
_STEP: Final = 0.2
"""Step of the integral. With it, the limits of 6 to 1,000 rows of 0 and 1 agree with those of
Clopper and Pearson to 1e-6, and those of 20,000 rows to 2e-5.
"""
_LINEAR: Final = 1e-4
_FAR: Final = 20.0
"""Deviations of the sum from 0, beyond which its tail is below 1e-9 (about exp(-20))."""
_NEGLIGIBLE: Final = 1e-9
_CLOSE: Final = 1e-6
_MOST_STEPS: Final = 60
_NORMAL: Final = NormalDist()


def interval_of_mean(
    values: Sequence[float],
    bounds: Range | None,
    *,
    tail: float,
    otherwise: Callable[[], Interval],
) -> Interval | None:
    """Returns the interval of the mean of one value per row, with the probability `tail` beyond
    each limit: that of `otherwise` where the rows show the spread of the values, and else Gaffke's.
    `bounds`: range of the values, `None` where none is known.

    `None` for fewer than 6 rows, and without a range where fewer than 5 rows differ from the most
    common value. Values that are all at an end of their range need no observed spread: that of the
    binomial distribution is known.
    """
    if len(values) < FEWEST_ROWS:
        return None
    counts = _counts(values)
    differing = len(values) - max(counts.values())
    if bounds is None:
        return otherwise() if differing >= FEWEST_DIFFERING else None
    if differing < FEWEST_DIFFERING or counts.keys() <= _counts(bounds).keys():
        return limits_of_mean(values, bounds, tail=tail)
    return otherwise()


def range_of_scores(*sides: Iterable[float], known: Range | None = None) -> Range:
    """Returns the range of scores: that of the grader's definition, or else 0 to 1, extended by the
    scores that were seen.
    """
    low, high = known or UNIT_RANGE
    seen = [value for side in sides for value in side]
    return min([low, *seen]), max([high, *seen])


def range_of_differences(bounds: Range | None) -> Range | None:
    """Returns the range of the difference of two values of this range."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def limits_of_mean(values: Sequence[float], bounds: Range, *, tail: float = 0.025) -> Interval:
    """Returns Gaffke's limits of the mean, each with this error probability. Every value is within
    `bounds`.
    """
    low, high = bounds
    mirrored = [-value for value in values]
    return _lower_limit(_key(values), low, tail), -_lower_limit(_key(mirrored), -high, tail)


def _key(values: Sequence[float]) -> Kinds:
    return tuple(sorted(_counts(values).items()))


@lru_cache(maxsize=1024)
def _lower_limit(kinds: Kinds, low: float, tail: float) -> float:
    """Returns the limit for values of these kinds. Few are different: most rows have 0 or 1."""
    mean = math.fsum(value * count for value, count in kinds) / sum(count for _, count in kinds)
    if mean - low <= TIE:
        return low
    counts = Counter(dict(kinds))
    counts[round(low, _DIGITS)] += 1
    below, above, target = low, mean, _NORMAL.inv_cdf(tail)
    # The probability is close to that of a normal variable, so that its quantile is nearly a line.
    at_below, at_above = _NORMAL.inv_cdf(_NEGLIGIBLE) - target, _score(counts, mean) - target
    was_below: bool | None = None
    for _ in range(_MOST_STEPS):
        between = (below * at_above - above * at_below) / (at_above - at_below)
        found = _score(counts, between) - target
        if abs(found) <= _CLOSE:
            return between
        is_below = found < 0
        # An end that stays twice counts half (the Illinois method), so that both ends move.
        weight = 0.5 if is_below is was_below else 1.0
        was_below = is_below
        if is_below:
            below, at_below, at_above = between, found, at_above * weight
        else:
            above, at_above, at_below = between, found, at_below * weight
    return below


def _score(counts: Counter[float], mean: float) -> float:
    share = _share_below(counts, mean)
    return _NORMAL.inv_cdf(min(1 - _NEGLIGIBLE, max(_NEGLIGIBLE, share)))


def _share_below(counts: Counter[float], mean: float) -> float:
    """Returns the probability that the mean under random weights is at most `mean`. Weights are
    exponential variables over their sum, so it is that of a sum of gamma variables below 0, by the
    formula of Gil-Pelaez (1951), integrated over the logarithm of the frequency.
    """
    offsets = [(value - mean, count) for value, count in counts.items()]
    sum_of = math.fsum(offset * count for offset, count in offsets)
    deviation = math.sqrt(math.fsum(offset * offset * count for offset, count in offsets))
    if abs(sum_of) > _FAR * deviation:
        return 0.0 if sum_of > 0 else 1.0
    step = _STEP / max(1.0, abs(sum_of) / deviation)
    growth = math.exp(step)
    frequency = _LINEAR / math.fsum(abs(offset) * count for offset, count in offsets)
    # Below that frequency the integrand is proportional to it: a geometric series.
    total, size = frequency * sum_of / (growth - 1), 1.0
    while size > _NEGLIGIBLE:
        decay = phase = 0.0
        for offset, count in offsets:
            at = offset * frequency
            decay += count * math.log1p(at * at)
            phase += count * math.atan(at)
        size = math.exp(-decay / 2)
        total += size * math.sin(phase)
        frequency *= growth
    return 0.5 - total * step / math.pi


def _counts(values: Sequence[float]) -> Counter[float]:
    return Counter(round(value, _DIGITS) for value in values)
