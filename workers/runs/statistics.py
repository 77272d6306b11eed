"""The paired comparison of two models on the same rows, each the mean over its graded samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.jobs.intervals import (
    Interval,
    Range,
    Scale,
    ScoreRanges,
    difference,
    interval_of_mean,
    range_of_differences,
    range_of_scores,
    t_quantile,
)

RESAMPLES: Final = 10_000
_TAIL: Final = 0.025
_FEWEST_BEYOND: Final = 20
_ROWS_A_KIND: Final = 8
"""Rows per distinct value from which counting distinct values is faster than drawing rows."""
_BLOCK_NUMBERS: Final = 1 << 22

_NO_RANGES: Final = ScoreRanges()
_UNCOMPARED: Final = dict.fromkeys(
    (
        "base_mean",
        "start_mean",
        "start_ci95",
        "tuned_mean",
        "tuned_ci95",
        "difference",
        "difference_ci95",
    )
)
Values = Mapping[int, Sequence[float]]


@dataclass(frozen=True, slots=True)
class ComparedValues:
    start: Values
    tuned: Values
    base: Values | None = None

    @property
    def rows(self) -> list[int]:
        return sorted(row for row in self.start if self.start[row] and self.tuned.get(row))


@dataclass(frozen=True, slots=True)
class PairedValues:
    rewards: Values
    tool_calls: Values
    components: Mapping[str, Values] = field(default_factory=dict)


def paired_report(
    start: PairedValues,
    tuned: PairedValues,
    base: PairedValues | None = None,
    *,
    seed: int = 0,
    among: int = 1,
    ranges: ScoreRanges = _NO_RANGES,
) -> dict[str, Any]:
    """Returns the report as JSON: number of `rows`; `reward`, `tool_calls` and each of `components`
    as `comparison` and `_component` have it; `wins`, `ties`, `losses` by row; and `regressions`,
    worst first, as `{row, before, after}`. `base` is absent if training started from the base
    model; `among` as in `comparison`. `ranges`: those of the grader's definition. Scores without
    one have 0 to 1, extended by what was seen; tool calls have none. Raises `ValueError` if no row
    was graded before and after training.
    """
    rewards = ComparedValues(start.rewards, tuned.rewards, None if base is None else base.rewards)
    if not rewards.rows:
        raise ValueError("no held-out row was graded both before and after training")
    before = {row: fmean(start.rewards[row]) for row in rewards.rows}
    after = {row: fmean(tuned.rewards[row]) for row in rewards.rows}
    change = {row: difference(before[row], after[row]) for row in rewards.rows}
    worse = sorted((row for row in change if change[row] < 0), key=lambda row: (change[row], row))
    wins = sum(by > 0 for by in change.values())
    calls = ComparedValues(
        start.tool_calls, tuned.tool_calls, None if base is None else base.tool_calls
    )
    return {
        "rows": len(change),
        "wins_by": "reward",
        "reward": comparison(
            rewards, seed=seed, among=among, bounds=_range(rewards, ranges.reward)
        ),
        "wins": wins,
        "ties": len(change) - wins - len(worse),
        "losses": len(worse),
        "regressions": [{"row": row, "before": before[row], "after": after[row]} for row in worse],
        "tool_calls": comparison(calls, seed=seed, among=among),
        "components": {
            name: _component(name, start, tuned, base, seed=seed, among=among, ranges=ranges)
            for name in sorted(start.components.keys() | tuned.components.keys())
        },
    }


def _component(
    name: str,
    start: PairedValues,
    tuned: PairedValues,
    base: PairedValues | None,
    *,
    seed: int,
    among: int,
    ranges: ScoreRanges,
) -> dict[str, Any]:
    """A rollout without the component does not count, as in its curve: it may mean anything."""
    sides = ComparedValues(
        start.components.get(name, {}),
        tuned.components.get(name, {}),
        None if base is None else base.components.get(name, {}),
    )
    graded = _rollouts(start.rewards) + _rollouts(tuned.rewards)
    having = _rollouts(sides.start) + _rollouts(sides.tuned)
    bounds = _range(sides, ranges.components.get(name))
    compared = dict(_UNCOMPARED)
    if sides.rows:
        compared = comparison(sides, seed=seed, among=among, bounds=bounds)
    return {"rows": len(sides.rows), "rollouts_without": graded - having, **compared}


def _range(sides: ComparedValues, known: Scale | None) -> Range:
    seen = [*sides.start.values(), *sides.tuned.values()]
    return range_of_scores(*seen, known=None if known is None else (known.floor, known.ceiling))


def _rollouts(values: Values) -> int:
    return sum(map(len, values.values()))


def bootstrap_interval(
    values: Sequence[float], *, seed: int, among: int = 1, bounds: Range | None = None
) -> Interval | None:
    """Returns the 95 % interval of the mean over rows from 10,000 resamples, or by the range
    `bounds` of the values where resamples of equal rows would show no spread; `None` for fewer than
    6 rows, and where neither says anything (`interval_of_mean`).

    It is the percentile interval (Efron & Tibshirani, An Introduction to the Bootstrap, §13),
    expanded as Hesterberg, What Teachers Should Know About the Bootstrap (2015), §5.3, has it: the
    plain one is too narrow for few rows, at 20 by a tenth. The same seed and values always give the
    same interval. If the same rows chose the model `among` several, the interval is widened by
    Bonferroni's inequality: in 95 % of the cases all of the intervals are right. Where fewer than
    20 resamples lie beyond an end, it is at least as wide as Student's: resamples of few rows never
    leave the range of the values, so that rows which all rose by luck would prove a gain.
    """
    tail = _TAIL / among
    return interval_of_mean(
        values, bounds, tail=tail, otherwise=lambda: _of_resamples(values, seed, tail)
    )


def _of_resamples(values: Sequence[float], seed: int, tail: float) -> Interval:
    rows = len(values)
    values_R = np.asarray(values, dtype=np.float64)
    # The share of resamples beyond each end, which approaches `tail` for many rows.
    freedom = rows - 1
    beyond = NormalDist().cdf(-t_quantile(freedom, tail=tail) * math.sqrt(rows / freedom))
    low, high = np.quantile(_resampled_means(values_R, seed), [beyond, 1 - beyond]).tolist()
    if beyond * RESAMPLES < _FEWEST_BEYOND:
        mean, reach = fmean(values), t_quantile(rows - 1, tail=tail) * stdev(values) / rows**0.5
        low, high = min(low, mean - reach), max(high, mean + reach)
    return low, high


def _resampled_means(values_R: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    kinds_K, counts_K = np.unique(values_R, return_counts=True)
    rows = len(values_R)
    if len(kinds_K) * _ROWS_A_KIND <= rows:
        # Rewards of few kinds: how often each is drawn is all that a mean depends on.
        drawn_SK = generator.multinomial(rows, counts_K / rows, size=RESAMPLES)
        means: NDArray[np.float64] = drawn_SK @ kinds_K / rows
        return means
    block = max(1, _BLOCK_NUMBERS // rows)
    parts = []
    for start in range(0, RESAMPLES, block):
        size = (min(block, RESAMPLES - start), rows)
        parts.append(values_R[generator.integers(0, rows, size=size)].mean(axis=1))
    return np.concatenate(parts)


def comparison(
    sides: ComparedValues, *, seed: int, among: int = 1, bounds: Range | None = None
) -> dict[str, Any]:
    """Returns the means over the shared rows with their 95 % intervals (`None` for very few rows,
    and for almost equal ones of values without a range), and the paired difference of tuned and
    start. `bounds`: range of the values, `None` where none is known. `base_mean` is the mean over
    the rows for which the base model has a value, `None` without any. Requires a shared row.
    `among`: number of models from which these rows chose the tuned one; the interval of the
    difference allows for the choice.
    """
    rows = sides.rows
    before = [fmean(sides.start[row]) for row in rows]
    after = [fmean(sides.tuned[row]) for row in rows]
    differences = [difference(a, b) for a, b in zip(before, after, strict=True)]
    of_base = before
    if sides.base is not None:
        of_base = [fmean(sides.base[row]) for row in rows if sides.base.get(row)]
    return {
        "base_mean": fmean(of_base) if of_base else None,
        "start_mean": fmean(before),
        "start_ci95": _interval(before, seed=seed, bounds=bounds),
        "tuned_mean": fmean(after),
        "tuned_ci95": _interval(after, seed=seed, bounds=bounds),
        "difference": fmean(differences),
        "difference_ci95": _interval(
            differences, seed=seed, among=among, bounds=range_of_differences(bounds)
        ),
    }


def _interval(
    values: Sequence[float], *, seed: int, bounds: Range | None, among: int = 1
) -> list[float] | None:
    found = bootstrap_interval(values, seed=seed, among=among, bounds=bounds)
    return None if found is None else list(found)
