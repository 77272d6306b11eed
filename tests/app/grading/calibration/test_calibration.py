"""The numbers of a calibration, by hand."""

from itertools import pairwise

import pytest

from app.graders.calibration import MAX_THRESHOLDS, Sample, probe_result, report, spearman, spread
from tests.support.cases import cases

ROWS = [{"q": "a"}, {"q": "b"}, {"q": "c"}]
SAMPLES = [Sample("x", row) for row in ROWS for _ in range(2)]
FOURS = [Sample("x", row) for row in ROWS for _ in range(4)]


def test_a_spread_counts_scores_and_rows() -> None:
    found = spread(SAMPLES, [0.0, 0.0, 1.0, 1.0, 0.0, 0.5])
    assert found.mean == pytest.approx(2.5 / 6)
    assert found.std == pytest.approx(0.448764)
    assert [bin_.count for bin_ in found.histogram] == [3, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert (found.all_lowest, found.all_highest, found.no_spread) == (None, None, None)
    assert [(row.threshold, row.failures) for row in found.thresholds] == [
        (0.0, 0.0),
        (0.5, 0.5),
        (1.0, pytest.approx(4 / 6)),
    ]
    assert found.recommended == 0.5


def test_rows_with_four_answers_show_whether_they_can_teach() -> None:
    one, two, three = [0.0] * 4, [1.0] * 4, [0.0, 1.0, 1.0, 1.0]
    found = spread(FOURS, [*one, *two, *three])
    assert (found.all_lowest, found.all_highest, found.no_spread) == (1 / 3, 1 / 3, 2 / 3)
    found = spread(FOURS[:11], [*one, *two, *three[:3]])
    assert (found.all_lowest, found.all_highest, found.no_spread) == (1 / 2, 1 / 2, 1)
    found = spread(FOURS, [0.3] * 4 + [0.7] * 8)
    assert (found.all_lowest, found.all_highest, found.no_spread) == (0, 0, 1)
    assert report(found, [], None, 0)[0] == (
        "In 100% of the rows every answer has the same score: they teach nothing."
    )


def test_the_scale_is_the_graders_own_where_it_has_one() -> None:
    found = spread(FOURS, [1.0] * 8 + [2.0] * 4, lowest=1.0, highest=7.0)
    assert (found.histogram[0].low, found.histogram[-1].high) == (1.0, 7.0)
    assert found.all_lowest == 2 / 3
    assert report(found, [], None, 0)[0] == (
        "67% of the rows are never right: they teach nothing yet."
    )


def test_the_middle_of_an_observed_range_makes_no_hack() -> None:
    penalties = spread([Sample("x", {})] * 100, [-2.0] + [0.0] * 99)
    assert not probe_result("empty", [-0.45], penalties).hacks
    assert probe_result("empty", [-0.01], penalties).hacks
    known = spread([Sample("x", {})] * 100, [-2.0] + [0.0] * 99, lowest=-2.0, highest=0.0)
    assert probe_result("empty", [-0.45], known).hacks


def test_one_answer_a_row_claims_nothing_about_rows() -> None:
    answers = [Sample("x", {"row": number}) for number in range(100)]
    found = spread(answers, [1.0] * 60 + [0.0] * 40)
    assert found.recommended == 1.0
    assert [line for line in report(found, [], None, 0) if "teach nothing" in line] == []


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


@cases(
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
