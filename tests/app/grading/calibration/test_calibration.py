"""The numbers of a calibration, by hand."""

from itertools import pairwise

import pytest

from app.grading.calibration.calibration import MAX_THRESHOLDS, Sample, spearman, spread

ROWS = [{"q": "a"}, {"q": "b"}, {"q": "c"}]
SAMPLES = [Sample("x", row) for row in ROWS for _ in range(2)]


def test_a_spread_counts_scores_and_rows() -> None:
    found = spread(SAMPLES, [0.0, 0.0, 1.0, 1.0, 0.0, 0.5])
    assert found.mean == pytest.approx(2.5 / 6)
    assert found.std == pytest.approx(0.448764)
    assert [bin_.count for bin_ in found.histogram] == [3, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert (found.all_lowest, found.all_highest) == (1 / 3, 1 / 3)
    assert [(row.threshold, row.failures) for row in found.thresholds] == [
        (0.0, 0.0),
        (0.5, 0.5),
        (1.0, pytest.approx(4 / 6)),
    ]
    assert found.recommended == 0.5


def test_a_range_beyond_0_to_1_is_the_histograms_own() -> None:
    found = spread(SAMPLES[:2], [-5.0, 5.0])
    assert (found.histogram[0].low, found.histogram[-1].high) == (-5.0, 5.0)
    assert found.recommended == 5.0


def test_no_threshold_is_recommended_without_failures_in_the_target() -> None:
    assert spread(SAMPLES, [1.0] * 6).recommended is None
    assert spread(SAMPLES, [0.0] * 5 + [1.0]).recommended is None


def test_many_distinct_scores_have_a_recommendation_and_a_table_of_quantiles() -> None:
    scores = [number / 500 for number in range(500)]
    found = spread([Sample("x", {})] * 500, scores)
    assert found.recommended == 187 / 500
    shown = {row.threshold: row.failures for row in found.thresholds}
    assert len(shown) <= MAX_THRESHOLDS
    assert (min(shown), max(shown), shown[187 / 500]) == (0.0, 499 / 500, 187 / 500)
    thresholds = sorted(shown)
    assert max(after - before for before, after in pairwise(thresholds)) < 0.03


def test_fifty_distinct_scores_are_all_shown() -> None:
    found = spread([Sample("x", {})] * 50, [number / 50 for number in range(50)])
    assert [row.threshold for row in found.thresholds] == [number / 50 for number in range(50)]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1, 2, 3], [10, 20, 21], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),
        ([1, 1, 1], [1, 2, 3], None),
        ([1], [1], None),
    ],
)
def test_spearman(left: list[float], right: list[float], expected: float | None) -> None:
    assert spearman(left, right) == (None if expected is None else pytest.approx(expected))
