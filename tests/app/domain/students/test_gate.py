"""The gate's reading of comparisons whose rows are equal."""

from typing import Any

import pytest

from app.teaching.students.students import Comparison, eval_comparison, target_comparison, verdict
from tests.support.cases import cases

SAME = eval_comparison("eval_1", *[dict.fromkeys(range(8), 1.0)] * 2, unscored=0)


def test_rows_that_did_not_change_pass_with_the_loss_that_they_leave_open() -> None:
    assert SAME.interval == pytest.approx((-0.36942, 0.36942), abs=1e-5)
    assert (SAME.passes, SAME.excludes_a_loss) == (True, False)
    assert SAME.words == ("eval_1: +0 over 8 rows, 95 % interval -0.369 to +0.369; no row changed.")
    few = eval_comparison("eval_1", *[dict.fromkeys(range(5), 1.0)] * 2, unscored=0)
    assert (few.unchanged, few.passes) == (True, False)
    assert few.words.endswith("(too few for an interval), so a loss is not excluded.")


def test_rows_that_balance_have_changed() -> None:
    before, after = dict.fromkeys(range(8), 0.5), dict.fromkeys(range(8), 0.5)
    found = eval_comparison("eval_1", {**before, 0: 1.0}, {**after, 1: 1.0}, unscored=0)
    assert (found.difference, found.unchanged, found.passes) == (0.0, False, False)


@cases(
    ("difference", "wins", "losses", "passes"),
    [(0.0, 0, 0, True), (0.0, 1, 1, False), (0.0, None, None, False), (-0.01, 0, 0, False)],
)
def test_a_target_is_unchanged_if_no_row_won_or_lost(
    difference: float, wins: int | None, losses: int | None, passes: bool
) -> None:
    reward = {"difference": difference, "difference_ci95": [-0.37, 0.37]}
    report: dict[str, Any] = {"rows": 8, "reward": reward, "wins": wins, "losses": losses}
    assert target_comparison(report).passes == passes
    assert verdict(target_comparison(report), [SAME])[0] == passes


def test_a_target_is_compared_at_the_temperature_of_a_student() -> None:
    sampled = {"difference": -0.3, "difference_ci95": [-0.5, -0.1]}
    best = {"difference": 0.5, "difference_ci95": [0.3, 0.7]}
    report = {"rows": 20, "reward": sampled, "greedy": {"rows": 18, "reward": best}}
    found = target_comparison(report)
    assert (found.difference, found.rows, found.passes) == (0.5, 18, True)


def test_a_missing_interval_excludes_nothing() -> None:
    assert not Comparison("target", 1.0, None, 100).passes
