"""Intervals of means where rows hardly differ: simulated coverage, and limits of other formulas."""

from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray

from app.jobs.intervals import (
    UNIT_RANGE,
    Interval,
    interval_of_mean,
    limits_of_mean,
    paired_gain,
    range_of_scores,
)
from app.teaching.coach.statistics import share_limits
from tests.support.cases import cases
from workers.runs.statistics import bootstrap_interval

REPORTS = 500
CHANCES = (0.05, 0.5, 0.95)


def impossible() -> Interval:
    raise AssertionError("the rows are resampled")


@cases("tail", [0.025, 0.0005])
@cases("rows", [6, 100])
def test_limits_of_0_and_1_are_those_of_clopper_and_pearson(rows: int, tail: float) -> None:
    for ones in {0, 1, rows // 3, rows - 1, rows}:
        values = [1.0] * ones + [0.0] * (rows - ones)
        exact = share_limits(ones / rows, rows, tail=tail)
        assert limits_of_mean(values, UNIT_RANGE, tail=tail) == pytest.approx(exact, abs=2e-6)


def test_limits_are_quantiles_of_the_mean_under_random_weights() -> None:
    values = [0.2, 0.2, 0.2, 0.4, 0.9, -0.3, 0.0, 0.2]
    generator = np.random.default_rng(3)
    for end, at in ((-1.0, 0.025), (1.0, 0.975)):
        weights_SR = generator.dirichlet(np.ones(len(values) + 1), 200_000)
        sampled = float(np.quantile(weights_SR @ np.array([*values, end]), at))
        found = limits_of_mean(values, (-1.0, 1.0))[at > 0.5]
        assert found == pytest.approx(sampled, abs=4e-3)


def test_values_that_are_equal_but_for_rounding_are_equal() -> None:
    shifted = [1 / 23 + row * 1e-12 for row in range(12)]
    low, high = limits_of_mean(shifted, (-1.0, 1.0))
    share = 1 - 0.025 ** (1 / 12)
    assert low == pytest.approx((1 - share) / 23 - share, abs=1e-6)
    assert high == pytest.approx((1 - share) / 23 + share, abs=1e-6)
    assert limits_of_mean([0.0] * 12, UNIT_RANGE)[0] == 0.0


def test_resampling_needs_five_rows_that_differ_from_the_most_common_value() -> None:
    few, enough = [0.0] * 8 + [0.5] * 4, [0.0] * 7 + [0.5] * 5
    found = partial(interval_of_mean, tail=0.025, otherwise=lambda: (-7.0, 7.0))
    assert found(enough, None) == found(enough, UNIT_RANGE) == (-7.0, 7.0)
    assert found(few, None) is None
    assert found(few, UNIT_RANGE) == limits_of_mean(few, UNIT_RANGE)
    assert found([0.0, 0.1, 0.2, 0.3, 0.4], UNIT_RANGE) is None, "5 rows have none"
    ends = [0.0] * 7 + [1.0] * 5
    assert interval_of_mean(ends, UNIT_RANGE, tail=0.025, otherwise=impossible) is not None


def test_the_range_of_scores_is_that_of_the_grader_and_of_what_was_seen() -> None:
    assert range_of_scores([0.2, 0.4]) == (0.0, 1.0)
    assert range_of_scores([0.2], [3.0, -1.0]) == (-1.0, 3.0)
    assert range_of_scores([0.2], known=(-2.0, 2.0)) == (-2.0, 2.0)


@cases("rows", [10, 50])
def test_reports_of_jobs_that_learned_nothing(rows: int) -> None:
    """500 reports for each chance of a reward of 1: how many show a gain, and how many intervals of
    a mean miss it.
    """
    for chance in CHANCES:
        generator = np.random.default_rng([rows, round(100 * chance)])
        clear = by_student = missed = 0
        for _ in range(REPORTS):
            before_R, after_R = (generator.random((2, rows)) < chance).astype(float)
            clear += is_clear(after_R - before_R)
            by_student += is_clear_by_student(before_R, after_R)
            found = interval(tuple(sorted(after_R.tolist())), UNIT_RANGE)
            missed += not found[0] <= chance <= found[1]
        assert clear <= 0.04 * REPORTS, chance
        assert by_student <= 0.04 * REPORTS, chance
        assert missed <= 0.05 * REPORTS, chance


def is_clear(gain_R: NDArray[np.float64]) -> bool:
    return interval(tuple(sorted(gain_R.tolist())), (-1.0, 1.0))[0] > 0


def is_clear_by_student(before_R: NDArray[np.float64], after_R: NDArray[np.float64]) -> bool:
    sides = (dict(enumerate(side_R.tolist())) for side_R in (before_R, after_R))
    gain = paired_gain(*sides, bounds=UNIT_RANGE)
    return gain is not None and gain.is_clear and gain.mean > 0


@cache
def interval(values: tuple[float, ...], bounds: tuple[float, float]) -> Interval:
    found = bootstrap_interval(values, seed=0, bounds=bounds)
    assert found is not None
    return found
