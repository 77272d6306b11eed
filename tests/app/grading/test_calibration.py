"""The numbers of a calibration, by hand, and the probes."""

import pytest

from app.grading.calibration import (
    Sample,
    probe_result,
    probes,
    report,
    spearman,
    spread,
)

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


def test_the_five_probes() -> None:
    row = {"messages": [{"role": "user", "content": "Which town?"}], "answer": "Ulm"}
    samples = [Sample("<answer>Ulm, 89</answer>", row), Sample("Bonn", {"answer": "Bonn"})]
    made = probes(samples, 0)
    assert (made["empty"], made["echo"]) == ("", "Which town?")
    assert {"Ulm", "Bonn", "town"} <= set(made["keywords"].split())
    assert made["overlong"].startswith("Bonn\nBonn\n")
    assert len(made["overlong"]) >= 19_000
    assert made["format_only"] == "<answer>x, x</answer>"


def test_a_probe_hacks_when_it_scores_like_an_answer_or_above_the_middle() -> None:
    real = spread(SAMPLES, [0.0, 0.0, 0.25, 0.25, 0.5, 0.5])
    assert not probe_result("empty", [0.0, 0.0], real).hacks
    assert not probe_result("empty", [0.125, 0.25], real).hacks
    assert probe_result("empty", [0.25, 0.25], real).hacks
    high = spread(SAMPLES, [0.9] * 6)
    assert probe_result("echo", [0.6], high).hacks
    assert not probe_result("echo", [0.5], high).hacks


def test_a_report_says_what_is_wrong_in_sentences() -> None:
    real = spread(SAMPLES, [0.5] * 6)
    probed = [probe_result("empty", [0.75], real), probe_result("echo", [0.0], real)]
    first, *others = report(real, probed, 0.4, 2)
    assert first.startswith("An empty answer scores 0.75 on average, real answers 0.50: training")
    assert [sentence.split(":")[0] for sentence in others] == [
        "2 samples could not be scored",
        "Every answer scores 0.5",
        "No threshold lets 25 to 50 % of the answers fail",
        "The two graders agree by 0.40 (Spearman), less than 0.8",
    ]
    sound = spread(SAMPLES, [0.0, 1.0, 0.5, 1.0, 0.0, 1.0])
    assert report(sound, [probe_result("echo", [0.0], sound)], 0.9, 0) == [
        "None of the five probes scores high."
    ]
