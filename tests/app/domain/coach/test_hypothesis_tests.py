"""Tests of findings, against values of the published methods."""

import pytest

from app.teaching.coach.statistics import holm, p_value_of_share, share_limits
from tests.support.cases import cases


@cases(
    ("share", "count", "interval"),
    [
        (0.0, 10, (0.0, 0.3085)),
        (0.5, 10, (0.1871, 0.8129)),
        (1.0, 10, (0.6915, 1.0)),
        (0.02, 500, (0.0096, 0.0365)),
    ],
)
def test_the_limits_of_whole_numbers_are_clopper_and_pearsons(
    share: float, count: int, interval: tuple[float, float]
) -> None:
    assert share_limits(share, count, tail=0.025) == pytest.approx(interval, abs=1e-4)


def test_the_tail_between_whole_numbers_lies_on_its_logarithm() -> None:
    two, three = (p_value_of_share(n / 10, 10, true=0.05) for n in (2, 3))
    assert (two, three) == pytest.approx((0.0861, 0.0115), abs=1e-4)
    assert p_value_of_share(0.25, 10, true=0.05) == pytest.approx((two * three) ** 0.5)


def test_holm_holds_tests_to_what_the_rejected_ones_leave() -> None:
    assert holm({0: 0.3, 1: 0.0083, 2: 0.0124}) == pytest.approx({1: 0.025 / 3, 2: 0.0125})
    assert holm({0: 0.3, 1: 0.0084, 2: 0.001}) == pytest.approx({2: 0.025 / 3, 1: 0.0125})
    assert holm({0: 0.0084, 1: 0.009, 2: 0.02}) == {}
