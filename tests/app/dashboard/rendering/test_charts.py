"""Charts: their steps, shares computed by hand, and their sentences."""

from app.jobs.stop_rules import REWARD
from app.kit.ids import Split
from app.pages.charts import SHOWN_STEPS, charts

Curves = dict[tuple[str, Split], dict[int, float]]


def test_a_validation_is_never_thinned_away() -> None:
    train = dict.fromkeys(range(1, 5001), 0.5)
    valid = dict.fromkeys(range(0, 5001, 100), 0.5)
    curves: Curves = {("reward/mean", "train"): train, ("reward/mean", "valid"): valid}
    [chart] = charts(curves, REWARD)
    assert set(valid) <= set(chart.steps)
    assert len(chart.steps) <= 2 * SHOWN_STEPS + len(valid)
    assert [(line.label, line.mark) for line in chart.lines] == [
        ("training", "line"), ("validation", "points"), ("before training", "rule"),
    ]  # fmt: skip


def test_a_spike_of_one_step_is_shown_in_a_long_chart() -> None:
    train = {step: step % 7 / 10 for step in range(1, 5001)} | {1234: 9.0, 1235: -9.0}
    greedy = dict.fromkeys(range(0, 5001, 2), 0.5) | {3456: 0.0}
    curves: Curves = {("reward/mean", "train"): train, ("reward/mean", "valid_greedy"): greedy}
    [chart] = charts(curves, REWARD)
    assert {1, 1234, 1235, 3456, 5000} <= set(chart.steps)
    assert len(chart.steps) <= 3 * SHOWN_STEPS


def test_lost_shares_are_of_all_rollouts_of_the_step() -> None:
    curves: Curves = {
        ("discarded/share", "train"): {1: 0.25},
        ("discarded/count", "train"): {1: 2.0},
        ("discarded/tool_error", "train"): {1: 2.0, 2: 0.0},
        ("rollouts/valid", "train"): {1: 6.0, 2: 0.0},
    }
    [lost] = charts(curves, REWARD)
    assert {line.label: line.values for line in lost.lines} == {
        "all": {1: 0.25}, "tool_error": {1: 0.25},
    }  # fmt: skip


def test_a_job_that_was_lost_in_its_baseline_has_a_chart() -> None:
    curves: Curves = {
        ("discarded/share", "valid"): {0: 0.9},
        ("discarded/grader_error", "valid"): {0: 9.0},
        ("rollouts/valid", "valid"): {0: 1.0},
    }
    [lost] = charts(curves, REWARD)
    assert [(line.label, line.mark, line.values) for line in lost.lines] == [
        ("validation", "points", {0: 0.9})
    ]
    assert lost.summary == "validation 0.9; steps 0 to 0."
