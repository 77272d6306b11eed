"""The judgement about a process, look by look."""

from dataclasses import replace

from workers.processes.child import decode, encode
from workers.processes.claim_supervisor import Patience, Vitals
from workers.progress import Progress, ProgressMark

PATIENCE = Patience(look_s=2.0, stall_s=8.0, progress_s=20.0, pause_s=12.0, start_s=30.0)


def looks_until_verdict(
    vitals: Vitals, *, pausing: bool = False, mark: ProgressMark | None = None
) -> int:
    """Returns the number of looks up to the verdict; before each of them `mark` arrives."""
    for number in range(1, 100):
        if mark is not None:
            vitals.heard(mark)
        if vitals.look(pause_requested=pausing) is not None:
            return number
    raise AssertionError("no verdict")


def test_a_process_gets_longer_for_its_first_beat_than_for_the_next() -> None:
    assert looks_until_verdict(Vitals(PATIENCE)) == 15
    vitals = Vitals(PATIENCE)
    vitals.heard(ProgressMark(0, "start"))
    assert looks_until_verdict(vitals) == 4


def test_beats_without_progress_end_in_a_verdict_that_names_the_last_mark() -> None:
    vitals = Vitals(PATIENCE)
    for _ in range(9):
        vitals.heard(ProgressMark(7, "micro-batch computed"))
        assert vitals.look(pause_requested=False) is None
    vitals.heard(ProgressMark(8, "rollout of step 3 ended"))
    for _ in range(9):
        assert vitals.look(pause_requested=False) is None
        vitals.heard(ProgressMark(8, "rollout of step 3 ended"))
    verdict = vitals.look(pause_requested=False)
    assert verdict is not None
    assert verdict.reason == "The run made no progress for 20 s after 'rollout of step 3 ended'."
    assert not verdict.pauses


def test_a_pause_counts_from_its_request_and_starts_again_after_a_resume() -> None:
    vitals = Vitals(replace(PATIENCE, progress_s=600.0))
    for _ in range(5):
        vitals.heard(ProgressMark(1, "start"))
        assert vitals.look(pause_requested=True) is None
    vitals.heard(ProgressMark(1, "start"))
    assert vitals.look(pause_requested=False) is None
    assert looks_until_verdict(vitals, pausing=True, mark=ProgressMark(1, "start")) == 6


def test_the_verdict_on_a_hung_process_pauses_a_row_that_shall_pause() -> None:
    vitals = Vitals(PATIENCE)
    vitals.heard(ProgressMark(0, "start"))
    verdicts = [vitals.look(pause_requested=True) for _ in range(4)]
    assert [verdict is None for verdict in verdicts] == [True, True, True, False]
    assert verdicts[-1] is not None
    assert verdicts[-1].pauses


def test_a_mark_survives_the_line() -> None:
    progress = Progress()
    progress.mark("rollout\nof  step 3 " + "ended " * 100)
    mark = decode(encode(progress.latest))
    assert mark.number == 1
    assert mark.what.startswith("rollout of step 3 ended ended")
    assert encode(progress.latest).count(b"\n") == 1
