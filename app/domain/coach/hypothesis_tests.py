"""Hypothesis tests: p-values of findings, limits of a share, and tests that hold together. Pure.

A p-value is the probability that chance alone makes so clear a finding. `p_value_of_share` is the
tail of the binomial distribution, read between whole numbers along its logarithm, since the value
of a row is a number from 0 to 1 and not only 0 or 1; of all such values with one mean, 0 and 1 vary
most (Hoeffding 1963; Bentkus 2004, "On Hoeffding's inequalities"). `share_limits` are the shares
for which that test fails (Clopper and Pearson 1934). `p_value_of_less` is Student's t, which takes
a side without any success for one without variance: there, `p_value_of_none` decides as well.
`holm` says which of many tests hold together (Holm 1979, "A simple sequentially rejective multiple
test procedure").
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, variance
from typing import Final

from app.domain.jobs.curves.students_t import tail_above
from app.domain.rollouts.metrics import TIE

FALSE_FINDING_RATE: Final = 0.025
"""Probability of any false finding among all of a measurement: one side of 95 %."""
_HALVINGS: Final = 40
_NEGLIGIBLE: Final = 1e-17


def p_value_of_share(share: float, rows: int, *, true: float) -> float:
    """Returns the probability that rows with the mean `true` have a mean of at least `share`."""
    total = share * rows
    whole = math.floor(total + TIE)
    below, part = _binomial_tail(whole, rows, true), max(0.0, total - whole)
    if part <= TIE or below == 0.0:
        return below
    above = _binomial_tail(whole + 1, rows, true)
    return float(below ** (1 - part) * above**part)


def share_limits(share: float, rows: int, *, tail: float) -> tuple[float, float]:
    """Returns the lowest and the highest mean that make a share no less likely than `tail`."""
    if rows == 0:
        return 0.0, 1.0
    low = _bisected(lambda true: p_value_of_share(share, rows, true=true) < tail)
    high = _bisected(lambda true: p_value_of_share(1 - share, rows, true=true) < tail)
    return low, 1 - high


def p_value_of_less(fewer: Sequence[float], more: Sequence[float]) -> float:
    """Returns the probability that by chance alone the values of some rows are so much lower than
    those of other rows.
    """
    count = min(len(fewer), len(more))
    error = math.sqrt(sum(variance(each) / len(each) for each in (fewer, more)))
    return _t_tail(fmean(more) - fmean(fewer), error, count)


def p_value_of_less_within(differences: Sequence[float]) -> float:
    """Returns the same for the values of the same rows, from what each row has less."""
    error = math.sqrt(variance(differences) / len(differences))
    return _t_tail(fmean(differences), error, len(differences))


def p_value_of_none(strata: Iterable[tuple[int, int, int]]) -> float:
    """Returns the probability that by chance alone none of some attempts reaches a score that
    others reach: of each stratum their number, that of the others, and how many of these reach it.
    The tail of the hypergeometric distribution at 0 (Fisher's exact test), over all strata.
    """
    return math.prod(
        math.comb(others, reached) / math.comb(others + attempts, reached)
        for attempts, others, reached in strata
    )


def holm(p_values: Mapping[int, float]) -> dict[int, float]:
    """Returns the tests that hold together, each with the probability that it was held to."""
    held = dict[int, float]()
    for rank, name in enumerate(sorted(p_values, key=lambda each: (p_values[each], each))):
        allowed = FALSE_FINDING_RATE / (len(p_values) - rank)
        if p_values[name] > allowed:
            break
        held[name] = allowed
    return held


def _t_tail(less: float, error: float, rows: int) -> float:
    """Returns the tail of Student's t, at least the probability of equal signs of so many rows:
    few rows that happen to be equal have no error, and prove nothing.
    """
    if less <= TIE:
        return 1.0
    tail = 0.0 if error <= TIE else tail_above(less / error, rows - 1)
    return float(max(tail, 0.5**rows))


def _binomial_tail(least: int, count: int, true: float) -> float:
    """Returns the probability of at least so many of `count`."""
    if least <= 0:
        return 1.0
    if least > count or true <= 0:
        return 0.0
    if true >= 1:
        return 1.0
    odds = true / (1 - true)
    ways = math.lgamma(count + 1) - math.lgamma(least + 1) - math.lgamma(count - least + 1)
    term = math.exp(ways + least * math.log(true) + (count - least) * math.log1p(-true))
    total = term
    for number in range(least, count):
        term *= odds * (count - number) / (number + 1)
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return min(1.0, total)


def _bisected(is_below: Callable[[float], bool]) -> float:
    """Returns the largest value from 0 to 1 for which, and for all below it, this is true."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low
