"""The paired comparison of base and tuned model on the same rows.

Owns its arithmetic: pure functions without torch. A row counts only if both sides have a graded
rollout of it; a row's value is the mean over its samples. Must not know the source of the values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 10_000
TIE: Final = 1e-9
"""Difference of means up to which a row is a tie: smaller ones are rounding errors."""
_BLOCK_NUMBERS: Final = 1 << 22

Values = Mapping[int, Sequence[float]]
"""Maps a row number to one value per graded rollout of that row."""


@dataclass(frozen=True, slots=True)
class PairedValues:
    """Results of one side (base or tuned) on the held-out rows."""

    rewards: Values
    tool_calls: Values
    components: Mapping[str, Values] = field(default_factory=dict)


def paired_report(base: PairedValues, tuned: PairedValues, *, seed: int = 0) -> dict[str, Any]:
    """Returns the report as JSON: number of `rows`; `reward`, `tool_calls` and each of `components`
    as `{base_mean, tuned_mean, difference, difference_ci95}`; `wins`, `ties`, `losses` by row; and
    `regressions`, worst first, as `{row, before, after}`.

    Raises `ValueError` if no row was graded on both sides.
    """
    rows = _shared_rows(base.rewards, tuned.rewards)
    if not rows:
        raise ValueError("no held-out row was graded both before and after training")
    before = {row: fmean(base.rewards[row]) for row in rows}
    after = {row: fmean(tuned.rewards[row]) for row in rows}
    change = {row: after[row] - before[row] for row in rows}
    worse = sorted((row for row in rows if change[row] < -TIE), key=lambda row: (change[row], row))
    wins = sum(change[row] > TIE for row in rows)
    shared = sorted(base.components.keys() & tuned.components.keys())
    components = {
        name: comparison(base.components[name], tuned.components[name], seed=seed)
        for name in shared
        if _shared_rows(base.components[name], tuned.components[name])
    }
    return {
        "rows": len(rows),
        "reward": comparison(base.rewards, tuned.rewards, seed=seed),
        "wins": wins,
        "ties": len(rows) - wins - len(worse),
        "losses": len(worse),
        "regressions": [{"row": row, "before": before[row], "after": after[row]} for row in worse],
        "tool_calls": comparison(base.tool_calls, tuned.tool_calls, seed=seed),
        "components": components,
    }


def bootstrap_interval(differences: Sequence[float], *, seed: int) -> tuple[float, float]:
    """Returns the 95 % percentile interval of the mean over rows from 10,000 resamples.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap, §13. The same seed and values
    always give the same interval.
    """
    values_R = np.asarray(differences, dtype=np.float64)
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK_NUMBERS // len(values_R))
    means: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLES, block):
        size = (min(block, RESAMPLES - start), len(values_R))
        means.append(values_R[generator.integers(0, len(values_R), size=size)].mean(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def _shared_rows(base: Values, tuned: Values) -> list[int]:
    return sorted(row for row in base if base[row] and tuned.get(row))


def comparison(base: Values, tuned: Values, *, seed: int) -> dict[str, Any]:
    """Returns both means over the shared rows and their difference. Requires a shared row."""
    rows = _shared_rows(base, tuned)
    before = [fmean(base[row]) for row in rows]
    after = [fmean(tuned[row]) for row in rows]
    differences = [b - a for a, b in zip(before, after, strict=True)]
    return {
        "base_mean": fmean(before),
        "tuned_mean": fmean(after),
        "difference": fmean(differences),
        "difference_ci95": list(bootstrap_interval(differences, seed=seed)),
    }
