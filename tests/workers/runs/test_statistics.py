import numpy as np
import pytest
from numpy.typing import NDArray

from app.jobs.intervals import UNIT_RANGE, Scale, ScoreRanges
from workers.runs.statistics import (
    ComparedValues,
    PairedValues,
    bootstrap_interval,
    comparison,
    paired_report,
)

BASE = PairedValues(
    rewards={0: [0.0, 1.0], 1: [1.0], 2: [0.0], 3: [0.5], 9: [1.0], 4: []},
    tool_calls={0: [3.0, 1.0], 1: [1.0], 2: [0.0], 3: [2.0], 9: [7.0]},
    components={"wasted": {0: [1.0], 1: [2.0]}, "old": {0: [1.0]}, "apart": {0: [1.0]}},
)
TUNED = PairedValues(
    rewards={0: [1.0, 1.0], 1: [0.25], 2: [0.0], 3: [0.25], 4: [1.0]},
    tool_calls={0: [1.0, 1.0], 1: [1.0], 2: [1.0], 3: [1.0], 4: [9.0]},
    components={"wasted": {0: [0.0], 1: [0.0]}, "new": {0: [1.0]}, "apart": {1: [1.0]}},
)


def interval(values: list[float]) -> tuple[float, float]:
    found = bootstrap_interval(values, seed=0)
    assert found is not None
    return found


def test_report_by_hand() -> None:
    report = paired_report(BASE, TUNED)
    assert report["rows"] == 4  # row 9 has no value after, row 4 none before: neither counts as 0
    assert report["reward"]["start_mean"] == pytest.approx((0.5 + 1 + 0 + 0.5) / 4)
    assert report["reward"]["base_mean"] == report["reward"]["start_mean"], "training began there"
    assert [report["reward"][f"{name}_ci95"] for name in ("start", "tuned", "difference")] == [
        None
    ] * 3, "4 rows have no interval"
    assert report["reward"]["tuned_mean"] == pytest.approx((1 + 0.25 + 0 + 0.25) / 4)
    assert report["reward"]["difference"] == pytest.approx(-0.125)
    assert (report["wins"], report["ties"], report["losses"]) == (1, 1, 2)
    assert report["regressions"] == [
        {"row": 1, "before": 1.0, "after": 0.25},
        {"row": 3, "before": 0.5, "after": 0.25},
    ]
    assert report["tool_calls"]["start_mean"] == pytest.approx(5 / 4)
    assert report["tool_calls"]["tuned_mean"] == pytest.approx(1.0)
    assert report["components"]["wasted"]["difference"] == pytest.approx(-1.5)
    counts = {
        name: (compared["rows"], compared["rollouts_without"])
        for name, compared in report["components"].items()
    }
    # 6 graded rollouts before and 6 after.
    assert counts == {"apart": (0, 10), "new": (0, 11), "old": (0, 11), "wasted": (2, 8)}
    assert report["components"]["apart"].keys() == report["components"]["wasted"].keys()
    assert report["components"]["apart"]["difference"] is None


def test_another_start_has_the_base_beside_it() -> None:
    base = PairedValues(
        rewards={0: [0.0], 1: [0.25], 7: [1.0]}, tool_calls={0: [4.0]}, components={}
    )
    report = paired_report(BASE, TUNED, base)
    assert report["reward"]["base_mean"] == pytest.approx(0.125), "rows 0 and 1: 7 is not compared"
    assert report["reward"]["start_mean"] == pytest.approx(0.5)
    assert report["reward"]["difference"] == pytest.approx(-0.125), "tuned against start"
    assert report["tool_calls"]["base_mean"] == 4.0
    assert report["components"]["wasted"]["base_mean"] is None
    unmeasured = paired_report(BASE, TUNED, PairedValues({}, {}))
    assert unmeasured["reward"]["base_mean"] is None
    assert unmeasured["reward"]["start_mean"] == pytest.approx(0.5)


def test_the_interval_is_that_of_the_mean() -> None:
    values = np.random.default_rng(1).normal(0.3, 0.5, size=400)
    low, high = interval(values.tolist())
    half_width = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half_width, abs=0.1 * half_width)
    assert high == pytest.approx(values.mean() + half_width, abs=0.1 * half_width)


def test_many_rows_are_resampled_in_blocks() -> None:
    values = [float(n % 2) for n in range(2_000)]
    low, high = interval(values)
    assert low == pytest.approx(0.5 - 1.96 * 0.5 / 2_000**0.5, abs=2e-3)
    assert high == pytest.approx(0.5 + 1.96 * 0.5 / 2_000**0.5, abs=2e-3)


@pytest.mark.parametrize("rows", [20, pytest.param(200, marks=pytest.mark.long)])
def test_a_job_that_learned_nothing_is_reported_as_better_by_chance_alone(rows: int) -> None:
    """400 jobs whose policies never change: the best of five validations is chosen, and compared
    with the start on rollouts of its own, or on those that chose it with an interval that allows
    for the choice. Without that, one interval in ten lies above 0.
    """
    generator = np.random.default_rng(rows)
    above = {"chosen": 0, "allowed for": 0, "afresh": 0}
    for job in range(400):
        chance_R = generator.beta(2, 2, size=rows)

        def play(chance_R: NDArray[np.float64] = chance_R) -> NDArray[np.float64]:
            return (generator.random(len(chance_R)) < chance_R).astype(float)

        start = play()
        best = max((play() for _ in range(5)), key=lambda earned_R: float(earned_R.sum()))
        for way, among, (before_R, after_R) in (
            ("chosen", 1, (start, best)),
            ("allowed for", 5, (start, best)),
            ("afresh", 1, (play(), play())),
        ):
            # As `comparison` does, without the intervals of either side.
            found = bootstrap_interval(
                (after_R - before_R).tolist(), seed=job, among=among, bounds=(-1.0, 1.0)
            )
            assert found is not None
            above[way] += found[0] > 0
    assert above["afresh"] <= 0.03 * 400
    assert above["allowed for"] <= 0.03 * 400
    assert above["chosen"] > 0.04 * 400, "the simulation shows the bias that it is about"


def test_few_rows_that_chose_among_many_prove_no_gain_by_luck() -> None:
    """300 jobs whose rewards never change but for noise: the best of their validations against the
    start, on the rows that chose it.
    """
    generator, rows, validations = np.random.default_rng(77), 6, 25
    above = unallowed = 0
    for job in range(300):
        truth_R = generator.normal(0.5, 0.2, rows)
        start_R, *later = generator.normal(truth_R, 0.1, (validations + 1, rows))
        gain_R = max(later, key=lambda earned_R: float(earned_R.mean())) - start_R
        found = bootstrap_interval(gain_R.tolist(), seed=job, among=validations)
        assert found is not None
        above += found[0] > 0
        unallowed += interval(gain_R.tolist())[0] > 0
    assert above <= 0.03 * 300
    assert unallowed > 0.1 * 300, "the simulation shows the bias that it is about"


def test_rows_that_all_rose_are_no_clear_gain_by_their_signs_alone() -> None:
    rose = [0.2, 0.01, 0.05, 0.3, 0.02, 0.1]
    assert interval(rose)[0] > 0, "one chance in 64"
    found = bootstrap_interval(rose, seed=0, among=20)
    # 0.11333, and 5.6042 standard errors of 0.04688 to each side: t of 0.00125 with 5 degrees.
    assert found == pytest.approx((-0.14939, 0.37606), abs=1e-5)
    assert bootstrap_interval([0.5] * 6, seed=0) is None, "no deviation, and no range"
    first = bootstrap_interval([1.0] * 6, seed=0, bounds=(-1.0, 1.0))
    among = bootstrap_interval([1.0] * 6, seed=0, among=20, bounds=(-1.0, 1.0))
    # A row that was not seen and lost everything weighs at most w = 1 - tail^(1/6): 1 - 2 w.
    assert first == pytest.approx((0.08148, 1.0), abs=1e-5)
    assert among == pytest.approx((-0.34358, 1.0), abs=1e-5), "the tail is 0.00125"


def test_a_rounding_error_is_no_difference() -> None:
    """The mean of the same three rewards in another order."""
    calls = {row: [1.0] for row in range(8)}
    before = PairedValues({row: [0.3, 0.2, 0.1] for row in range(8)}, calls)
    after = PairedValues({row: [0.1, 0.2, 0.3 + 1e-12] for row in range(8)}, calls)
    report = paired_report(before, after)
    assert (report["wins"], report["ties"], report["losses"]) == (0, 8, 0)
    assert report["reward"]["difference_ci95"] == pytest.approx([-0.36942, 0.36942], abs=1e-5)
    assert report["tool_calls"]["difference_ci95"] is None, "calls have no range"


def test_few_rows_have_an_interval_as_wide_as_student_s() -> None:
    values = np.random.default_rng(4).normal(0.3, 0.5, size=20)
    low, high = interval(values.tolist())
    half_width = 2.093 * values.std(ddof=1) / 20**0.5
    assert high - low == pytest.approx(2 * half_width, rel=0.03)


def test_too_few_rows_for_resamples_have_no_interval() -> None:
    values = [0.25, -0.5, 1.0, 0.5, 0.75]
    for rows in range(1, 6):
        assert bootstrap_interval(values[:rows], seed=0) is None, rows
    low, high = interval([*values, 0.0])
    assert low < 2 / 6 < high
    enough = {row: [float(row % 2)] for row in range(6)}
    compared = comparison(ComparedValues(enough, enough), seed=0, bounds=UNIT_RANGE)
    low, high = compared["tuned_ci95"]
    assert 0 <= low < compared["tuned_mean"] < high <= 1


def test_an_interval_of_few_rows_rarely_leaves_out_what_is_true() -> None:
    """In 1,000 jobs that learned nothing, rewards without ties."""
    generator, left_out = np.random.default_rng(6), 0
    for _ in range(1_000):
        low, high = interval(generator.normal(0, 0.3, size=6).tolist())
        left_out += not low <= 0 <= high
    assert left_out <= 0.1 * 1_000


def test_nothing_in_common_is_no_report() -> None:
    with pytest.raises(ValueError, match="no held-out row"):
        paired_report(PairedValues({0: [1.0]}, {}), PairedValues({1: [1.0]}, {}))


def test_a_perfect_gain_over_many_rows_is_clear() -> None:
    before = PairedValues({row: [0.0] for row in range(100)}, {row: [1.0] for row in range(100)})
    after = PairedValues({row: [1.0] for row in range(100)}, {row: [2.0] for row in range(100)})
    report = paired_report(before, after)
    # The unseen row has a weight of at most 1 - 0.025^(1/100).
    assert report["reward"]["difference_ci95"] == pytest.approx([0.92757, 1.0], abs=1e-5)
    assert report["reward"]["start_ci95"] == pytest.approx([0.0, 0.03622], abs=1e-5)
    assert report["tool_calls"]["difference_ci95"] is None


def test_the_range_of_the_grader_widens_what_equal_rows_leave_open() -> None:
    rows = {row: [5.0] for row in range(12)}
    sides = [PairedValues(rows, rows)] * 2
    seen = paired_report(*sides)["reward"]["difference_ci95"]
    defined = paired_report(*sides, ranges=ScoreRanges(Scale(0.0, 10.0)))["reward"]
    assert seen == pytest.approx([-5 * 0.264648, 5 * 0.264648], abs=1e-4)
    assert defined["difference_ci95"] == pytest.approx([-2.64648, 2.64648], abs=1e-4)
