"""Gains between two validations, and the quantiles of their intervals."""

import pytest

from app.domain.jobs.gains import paired_gain
from app.domain.jobs.students_t import t_quantile, tail_above


@pytest.mark.parametrize(
    ("freedom", "tail", "quantile"),
    [
        # Tables of Student's t.
        (1, 0.025, 12.7062),
        (1, 0.0005, 636.619),
        (2, 0.005, 9.92484),
        (5, 0.025, 2.57058),
        (5, 0.001, 5.89343),
        (9, 0.0005, 4.78091),
        (19, 0.0025, 3.17372),
        (1000, 0.025, 1.96234),
    ],
)
def test_a_quantile_of_students_t_is_that_of_the_tables(
    freedom: int, tail: float, quantile: float
) -> None:
    assert t_quantile(freedom, tail=tail) == pytest.approx(quantile, rel=2e-6)


def test_the_tail_beyond_a_quantile_is_the_one_that_was_asked_for() -> None:
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
    gain = paired_gain(dict.fromkeys(range(8), 0.19999999999999998), dict.fromkeys(range(8), 0.2))
    assert gain is not None
    assert (gain.mean, gain.interval, gain.is_clear) == (0.0, (0.0, 0.0), False)
