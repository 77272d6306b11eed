"""Intervals of means and gains: Student's t, and Gaffke's where the rows show no spread. Pure.

No library of the API has t quantiles: scipy with numpy would add wheels of 50 MB.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist, fmean, stdev
from typing import Final

from app.graders.grader_model import GraderModel
from app.rollouts.metrics import TIE

_MANY: Final = 200
"""Degrees of freedom from which the expansion is accurate to six digits."""
_CLOSE: Final = 1e-10
_MOST_STEPS: Final = 50


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, *, tail: float = 0.025) -> float:
    """Returns the quantile with this probability above it, of a tail below one half."""
    z = -NormalDist().inv_cdf(tail)
    if freedom >= _MANY:
        return _expanded(z, freedom)
    # Newton on the logarithm of the tail over that of t: concave, so no step overshoots twice.
    t = z
    for _ in range(_MOST_STEPS):
        above = tail_above(t, freedom)
        step = math.log(above / tail) * above / (t * _density(t, freedom))
        t *= math.exp(step)
        if abs(step) < _CLOSE:
            break
    return t


def tail_above(t: float, freedom: int) -> float:
    """Returns the probability above a positive t: Abramowitz & Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine_2 = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine_2 * (k - 1) / k
        total += term
    within = math.sin(angle) * total
    if odd:
        within = (angle + within) * 2 / math.pi
    return (1 - within) / 2


def _density(t: float, freedom: int) -> float:
    half = (freedom + 1) / 2
    constant = math.lgamma(half) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(constant - half * math.log1p(t * t / freedom))


def _expanded(z: float, freedom: int) -> float:
    """Returns the quantile by the expansion of Abramowitz & Stegun, 26.7.5."""
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


Interval = tuple[float, float]
"""Lower and upper limit of a mean, in the unit of its values."""
Range = tuple[float, float]
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
_QUANTILE_TOLERANCE: Final = 1e-6
_MOST_ITERATIONS: Final = 60
_NORMAL: Final = NormalDist()


def interval_of_mean(
    values: Sequence[float], bounds: Range | None, *, tail: float, otherwise: Callable[[], Interval]
) -> Interval | None:
    """Returns the interval with the probability `tail` beyond each limit: that of `otherwise` where
    the rows show the spread of the values, and else Gaffke's. `bounds`: their range, if known.

    `None` for fewer than 6 rows, and without a range where fewer than 5 rows differ from the most
    common value. Values that are all at an end of their range need no observed spread.
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
    """Returns the known range, or else 0 to 1, extended by the scores that were seen."""
    low, high = known or UNIT_RANGE
    seen = [value for side in sides for value in side]
    return min([low, *seen]), max([high, *seen])


def range_of_differences(bounds: Range | None) -> Range | None:
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def limits_of_mean(values: Sequence[float], bounds: Range, *, tail: float = 0.025) -> Interval:
    """Returns Gaffke's limits, each with this error probability, of values within `bounds`."""
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
    for _ in range(_MOST_ITERATIONS):
        between = (below * at_above - above * at_below) / (at_above - at_below)
        found = _score(counts, between) - target
        if abs(found) <= _QUANTILE_TOLERANCE:
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


_TOTAL_ERROR_PROBABILITY: Final = 0.05
"""Probability that any of the looks of a job shows a gain by chance."""


def error_probability(look: int) -> float:
    """Returns that of look k, 0.05/(k (k + 1)): in total at most 0.05 for any number of looks."""
    return _TOTAL_ERROR_PROBABILITY / (look * (look + 1))


def difference(before: float, after: float) -> float:
    rise = after - before
    return 0.0 if abs(rise) <= TIE else rise


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of a job; positive if the model improved."""

    mean: float
    interval: Interval | None
    rows: int | None = None
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
    """Returns the gain over the shared rows; `None` without any. `looks`: validations at which it
    could have been evaluated. Without `bounds`, rows that hardly differ have no interval.
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


_FEWEST_REACHING: Final = 3


_SHARE_REACHING: Final = 0.05


@dataclass(frozen=True, slots=True)
class Scale:
    floor: float
    ceiling: float

    @property
    def is_flat(self) -> bool:
        return self.ceiling - self.floor <= TIE

    def shortfall(self, reward: float) -> float:
        if self.is_flat:
            return 0.0
        lacking = (self.ceiling - reward) / (self.ceiling - self.floor)
        return min(1.0, max(0.0, lacking))


@dataclass(frozen=True, slots=True)
class ScoreRanges:
    reward: Scale | None = None
    components: Mapping[str, Scale] = field(default_factory=dict)


def seen_scale(values: Mapping[int, Sequence[float]]) -> Scale:
    """Returns the range in which the scores of rows were seen: from 0, or below it the lowest, to
    the highest, each that which at least 3 rows and 5 % of the rows reach. A single score is no
    end: the highest of many is high by chance, or by a fault of the grader.
    """
    count = min(len(values), max(_FEWEST_REACHING, round(_SHARE_REACHING * len(values))))
    if not count:
        return Scale(0.0, 0.0)
    lowest = sorted(min(of_row) for of_row in values.values())[count - 1]
    highest = sorted((max(of_row) for of_row in values.values()), reverse=True)[count - 1]
    return Scale(min(0.0, lowest), highest)


def ranges_of(grader: GraderModel) -> ScoreRanges:
    parts = {name: _range(part) for name, part in grader.parts.items()}
    return ScoreRanges(
        _range(grader), {name: scale for name, scale in parts.items() if scale is not None}
    )


def _range(grader: GraderModel) -> Scale | None:
    if grader.lowest is None or grader.highest is None:
        return None
    return Scale(grader.lowest, grader.highest)
