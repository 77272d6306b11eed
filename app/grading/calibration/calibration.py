"""Statistics that show whether a grader is fit for training: spread, thresholds, agreement.

Owns the limits of samples. Pure: callers score the samples. Source of the limits: the guidance of
hosted fine-tuning that 25 to 50 % of the base model's answers should fail, and that two graders
should agree by a Spearman of 0.8.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import Any, Final

MAX_SAMPLES: Final = 500
MAX_ITEM_VALUES: Final = 1_000_000
"""Largest number of values in the items of all samples: as objects they take 60 to 100 MB."""
BINS: Final = 10
MAX_THRESHOLDS: Final = 50
"""Largest number of rows in the table of thresholds."""
TARGET_FAILURES: Final = (0.25, 0.5)
"""Share of the base model's answers that should fail."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer and the row that it answers."""

    text: str
    item: dict[str, Any]
    more: dict[str, Any] | None = None
    """Keys of `sample` besides the answer's own, such as the calls of a rollout."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores from `low` to below `high`; the last bin includes `high`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Share of the answers that fail at a `pass_threshold`."""

    threshold: float
    failures: float


@dataclass(frozen=True, slots=True)
class Spread:
    mean: float
    std: float
    histogram: tuple[Bin, ...]
    all_lowest: float
    """Share of the rows whose answers all have the lowest score: 0, or the lowest one below 0."""
    all_highest: float
    """Share of the rows whose answers all have the highest score: 1, or the highest one above 1."""
    thresholds: tuple[ThresholdRow, ...]
    """Every score that occurs; if there are many, quantiles and the recommended threshold."""
    recommended: float | None
    """The threshold within the target range whose failures are nearest to its middle; `None`
    without one.
    """


def spread(samples: Sequence[Sample], scores: Sequence[float]) -> Spread:
    """Describes the scores of at least one sample."""
    low, high = min(0.0, *scores), max(1.0, *scores)
    by_row: dict[str, list[float]] = defaultdict(list)
    for sample, score in zip(samples, scores, strict=True):
        by_row[row_key(sample.item)].append(score)
    rows = list(by_row.values())
    ordered = sorted(scores)
    every = [
        ThresholdRow(value, bisect_left(ordered, value) / len(ordered))
        for value in sorted(set(ordered))
    ]
    best = _recommended(every)
    return Spread(
        mean=fmean(scores),
        std=pstdev(scores),
        histogram=_histogram(scores, low, high),
        all_lowest=fmean(all(score == low for score in row) for row in rows),
        all_highest=fmean(all(score == high for score in row) for row in rows),
        thresholds=_shown(every, ordered, best),
        recommended=None if best is None else best.threshold,
    )


def row_key(item: Mapping[str, Any]) -> str:
    return json.dumps(item, sort_keys=True)


def _histogram(scores: Sequence[float], low: float, high: float) -> tuple[Bin, ...]:
    edges = [low + (high - low) * number / BINS for number in range(BINS + 1)]
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, sum(score >= edge for edge in edges[1:]))] += 1
    return tuple(Bin(edges[n], edges[n + 1], counts[n]) for n in range(BINS))


def _shown(
    every: Sequence[ThresholdRow], ordered: Sequence[float], best: ThresholdRow | None
) -> tuple[ThresholdRow, ...]:
    """Returns all rows, or those at evenly spaced quantiles of the scores, with the best one."""
    if len(every) <= MAX_THRESHOLDS:
        return tuple(every)
    steps = MAX_THRESHOLDS - 2
    chosen = {ordered[round(step * (len(ordered) - 1) / steps)] for step in range(steps + 1)}
    if best is not None:
        chosen.add(best.threshold)
    return tuple(row for row in every if row.threshold in chosen)


def _recommended(table: Sequence[ThresholdRow]) -> ThresholdRow | None:
    least, most = TARGET_FAILURES
    fitting = [row for row in table if least <= row.failures <= most]
    middle = (least + most) / 2
    return min(fitting, key=lambda row: abs(row.failures - middle), default=None)


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Returns the correlation of ranks, `None` where all scores of one list are equal."""
    try:
        return correlation(_ranks(left), _ranks(right))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value; equal values share the mean of their ranks."""
    ranks: dict[float, list[int]] = defaultdict(list)
    for rank, value in enumerate(sorted(values)):
        ranks[value].append(rank)
    return [fmean(ranks[value]) for value in values]
