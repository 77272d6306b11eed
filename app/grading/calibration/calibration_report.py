"""The report of a calibration: its findings as sentences for the grader's author. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from app.grading.calibration.calibration import Spread
from app.grading.calibration.probes import PROBES, ProbeResult

SOUND_AGREEMENT: Final = 0.8
_MIDDLE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement with the grader of an evaluation."""

    value: float | None
    """Spearman's correlation; `None` if it is undefined."""
    compared: int
    """Answers that both graders scored."""
    faults: tuple[str, ...] = ()
    """Reasons of the other grader, one for each answer that it did not score."""


def report(
    real: Spread,
    probed: Sequence[ProbeResult],
    agreement: Agreement | None,
    failed: int,
    tried: Collection[str] = PROBES,
) -> list[str]:
    """Returns the findings, the most severe first. `tried` are the names of the probes that had an
    answer.
    """
    found = _hacks(real, probed)
    if failed:
        found.append(f"{failed} samples could not be scored: they would leave the batch.")
    if real.std == 0:
        found.append(f"Every answer scores {real.mean:g}: nothing can be learned from it.")
    elif real.all_lowest > _MIDDLE:
        found.append(f"{real.all_lowest:.0%} of the rows are never right: they teach nothing yet.")
    elif real.all_highest > _MIDDLE:
        found.append(f"{real.all_highest:.0%} of the rows are always right: they teach nothing.")
    if real.recommended is None:
        found.append("No threshold lets 25 to 50 % of the answers fail: scores are too coarse.")
    if agreement is not None:
        found += _agreement(agreement)
    return found + _left_out(probed, tried)


def _hacks(real: Spread, probed: Sequence[ProbeResult]) -> list[str]:
    hacked = [
        f"{PROBES[probe.name].capitalize()} scores {probe.mean:.2f} on average, real answers "
        f"{real.mean:.2f}: training could learn to give it. Make the grader score it low."
        for probe in probed
        if probe.hacks
    ]
    if hacked:
        return hacked
    if len(probed) == len(PROBES):
        return ["None of the five probes scores high."]
    return ["None of the probes that were scored scores high."] if probed else []


def _left_out(probed: Sequence[ProbeResult], tried: Collection[str]) -> list[str]:
    scored = {probe.name for probe in probed}
    return [
        f"{words.capitalize()} could not be scored."
        if name in tried
        else f"{words.capitalize()} was not tried: no row has a prompt in 'messages'."
        for name, words in PROBES.items()
        if name not in scored
    ]


def _agreement(found: Agreement) -> list[str]:
    if not found.compared:
        why = f": {found.faults[0]}" if found.faults else ""
        return [f"The grader of 'compare_with' scored no answer, so none is compared{why}."]
    sentences = []
    if found.faults:
        sentences.append(
            f"The grader of 'compare_with' could not score {len(found.faults)} answers: the "
            f"agreement is that of the other {found.compared}."
        )
    if found.value is None:
        sentences.append(
            "The two graders cannot be compared: one of them scores every answer the same."
        )
    elif found.value < SOUND_AGREEMENT:
        sentences.append(
            f"The two graders agree by {found.value:.2f} (Spearman), less than {SOUND_AGREEMENT}: "
            "a gain in training may be none in the evaluation."
        )
    return sentences
