"""Gains between two validations, and the quantiles of their intervals."""

import numpy as np
import pytest

from app.jobs.findings import Curves, looks_at
from app.jobs.intervals import UNIT_RANGE, paired_gain, t_quantile, tail_above
from app.jobs.stop_rules import REWARD
from tests.support.cases import cases


@cases(
    ("freedom", "tail", "quantile"),
    [
        # Tables of Student's t.
        (1, 0.0005, 636.619),
        (2, 0.005, 9.92484),
        (9, 0.0005, 4.78091),
        (1000, 0.025, 1.96234),
        # mpmath: the root of betainc(n / 2, 1 / 2, 0, n / (n + t²), regularized=True) / 2 = tail.
        (12, 1e-9, 15.8948134),
        (199, 1e-9, 6.28785635),
    ],
)
def test_a_quantile_of_students_t_is_that_of_the_tables(
    freedom: int, tail: float, quantile: float
) -> None:
    assert t_quantile(freedom, tail=tail) == pytest.approx(quantile, rel=2e-6)


def test_the_tail_beyond_a_quantile_is_the_one_that_was_requested() -> None:
    for freedom in (1, 2, 3, 6, 17, 60, 199, 200, 250):
        for tail in (0.4, 0.025, 1e-3, 1e-6):
            above = tail_above(t_quantile(freedom, tail=tail), freedom)
            assert above == pytest.approx(tail, rel=2e-5), (freedom, tail)


def test_the_interval_of_a_paired_gain_is_students() -> None:
    # scipy.stats.t.interval(0.95, 9, loc=0.55, scale=scipy.stats.sem([0.1 .. 1.0]))
    gain = paired_gain(dict.fromkeys(range(10), 0.0), {row: (row + 1) / 10 for row in range(10)})
    assert gain is not None
    assert gain.interval == pytest.approx((0.33341, 0.76659), abs=1e-5)


def test_rounding_errors_are_no_gain() -> None:
    before, after = dict.fromkeys(range(8), 0.19999999999999998), dict.fromkeys(range(8), 0.2)
    gain = paired_gain(before, after, bounds=UNIT_RANGE)
    assert gain is not None
    assert (gain.mean, gain.is_clear) == (0.0, False)
    # One row more that lost everything, or won it: 1 - 0.025^(1/8).
    assert gain.interval == pytest.approx((-0.36942, 0.36942), abs=1e-5)


def test_who_looks_at_every_validation_rarely_sees_luck() -> None:
    """300 jobs that learn nothing, with 20 validations of 12 rows and 4 samples of each. Without
    the allowance one in four of them shows a clear gain at some look.
    """
    generator = np.random.default_rng(12)
    seen = unallowed = 0
    for _ in range(300):
        right_R = generator.beta(2, 2, 12)
        plays = (generator.binomial(4, right_R, (21, 12)) / 4).tolist()
        first, *later = (dict(enumerate(play)) for play in plays)
        gains = [
            (
                paired_gain(first, now, looks=look, bounds=UNIT_RANGE),
                paired_gain(first, now, bounds=UNIT_RANGE),
            )
            for look, now in enumerate(later, 1)
        ]
        seen += any(gain.is_clear and gain.mean > 0 for gain, _ in gains if gain)
        unallowed += any(gain.is_clear and gain.mean > 0 for _, gain in gains if gain)
    assert seen <= 0.05 * 300
    assert unallowed > 0.1 * 300, "the simulation shows the bias that it is about"


def test_few_equal_gains_need_as_many_rows_as_signs_would() -> None:
    def clear(rows: int, looks: int) -> bool:
        before, after = dict.fromkeys(range(rows), 0.0), dict.fromkeys(range(rows), 1.0)
        gain = paired_gain(before, after, looks=looks, bounds=UNIT_RANGE)
        return gain is not None and gain.is_clear

    assert [clear(6, 1), clear(6, 2), clear(7, 2), clear(7, 3)] == [True, False, True, False]


def test_equal_gains_of_values_without_a_range_have_no_interval() -> None:
    gain = paired_gain(dict.fromkeys(range(20), 3.0), dict.fromkeys(range(20), 1.0))
    assert gain is not None
    assert (gain.interval, gain.is_clear) == (None, False)
    assert gain.words == "-2 over 20 rows (too few of them differ for an interval)"


def test_a_running_job_is_read_at_each_validation() -> None:
    curves: Curves = {(REWARD.valid, "valid"): {0: 0.1, 4: 0.2, 8: 0.3, 12: 0.4}}
    assert [looks_at(REWARD, curves, ended=ended) for ended in (False, True)] == [3, 1]
    assert looks_at(REWARD, {}, ended=False) == 1
