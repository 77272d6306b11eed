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
LEAST_ANSWERS: Final = 4
"""Number of a row's answers from which it is said whether the row can teach: of a policy that is
right in 70 % of its answers, a quarter of all rows with four answers has none that is wrong, and of
rows with one answer seven tenths.
"""
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
    scale_known: bool
    """True if the ends of the histogram are the grader's own, or 0 and 1; false for the lowest and
    the highest score that occur.
    """
    all_lowest: float | None
    """Share of the rows with `LEAST_ANSWERS` or more whose answers all have the lowest score of the
    histogram; `None` without such rows.
    """
    all_highest: float | None
    """The same for the highest score."""
    no_spread: float | None
    """Share of the same rows whose answers all have one score, whichever it is."""
    thresholds: tuple[ThresholdRow, ...]
    """Every score that occurs; if there are many, quantiles and the recommended threshold."""
    recommended: float | None
    """The threshold within the target range whose failures are nearest to its middle; `None`
    without one.
    """


def spread(
    samples: Sequence[Sample],
    scores: Sequence[float],
    *,
    lowest: float | None = None,
    highest: float | None = None,
) -> Spread:
    """Describes the scores of at least one sample. `lowest` and `highest` are the ends of the
    grader's scale, where it has any.
    """
    low, high, scale_known = _scale(scores, lowest, highest)
    by_row: dict[str, list[float]] = defaultdict(list)
    for sample, score in zip(samples, scores, strict=True):
        by_row[row_key(sample.item)].append(score)
    rows = [row for row in by_row.values() if len(row) >= LEAST_ANSWERS]
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
        scale_known=scale_known,
        all_lowest=_share([set(row) == {low} for row in rows]),
        all_highest=_share([set(row) == {high} for row in rows]),
        no_spread=_share([len(set(row)) == 1 for row in rows]),
        thresholds=_shown(every, ordered, best),
        recommended=None if best is None else best.threshold,
    )


def _scale(
    scores: Sequence[float], lowest: float | None, highest: float | None
) -> tuple[float, float, bool]:
    """Returns the ends of the scale, and whether they are known and not only observed."""
    least, most = min(scores), max(scores)
    if lowest is not None and highest is not None:
        return min(lowest, least), max(highest, most), True
    if least >= 0 and most <= 1:
        return 0.0, 1.0, True
    return least, most, False


def _share(rows: Sequence[bool]) -> float | None:
    return fmean(rows) if rows else None


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
