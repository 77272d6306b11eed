"""The sentences of a calibration's report."""

from app.graders.calibration import PROBES, Agreement, Sample, probe_result, report, spread

SAMPLES = [Sample("x", {"q": q}) for q in "abc" for _ in range(4)]
SOUND = spread(SAMPLES, [0.0, 1.0] * 2 + [0.5, 1.0] * 2 + [0.0, 1.0] * 2)
LOW = [probe_result(name, [0.0], SOUND) for name in PROBES]
NONE_HIGH = "None of the five probes scores high."


def test_a_report_states_what_is_wrong_in_sentences() -> None:
    real = spread(SAMPLES, [0.5] * 12)
    probed = [probe_result(name, [0.0], real) for name in PROBES if name != "empty"]
    probed.append(probe_result("empty", [0.75], real))
    first, *others = report(real, probed, Agreement(0.4, 6), 2)
    assert first.startswith("An empty answer scores 0.75 on average, real answers 0.50: training")
    assert [sentence.split(":")[0] for sentence in others] == [
        "2 samples could not be scored",
        "Every answer scores 0.5",
        "No threshold lets 25 to 50 % of the answers fail",
        "The two graders agree by 0.40 (Spearman), less than 0.8",
    ]
    assert report(SOUND, LOW, Agreement(0.9, 6), 0) == [NONE_HIGH]


def test_a_report_names_the_probes_that_were_left_out() -> None:
    probed = [probe for probe in LOW if probe.name not in {"echo", "overlong"}]
    assert report(SOUND, probed, None, 0, set(PROBES) - {"echo"}) == [
        "None of the probes that were scored scores high.",
        "An echo of the prompt was not tried: no row has a prompt in 'messages'.",
        "An answer of another row, repeated without end could not be scored.",
    ]


def test_a_report_names_the_reason_for_no_agreement() -> None:
    silent = Agreement(None, 0, ("other: no score",) * 6)
    assert report(SOUND, LOW, silent, 0) == [
        NONE_HIGH,
        "The grader of 'compare_with' scored no answer, so none is compared: other: no score.",
    ]
    assert report(SOUND, LOW, Agreement(None, 6), 0) == [
        NONE_HIGH,
        "The two graders cannot be compared: one of them scores every answer the same.",
    ]
    part = report(SOUND, LOW, Agreement(0.9, 4, ("a", "b")), 0)[1]
    assert part == (
        "The grader of 'compare_with' could not score 2 answers: the agreement is that of the "
        "other 4."
    )
