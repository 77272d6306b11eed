"""Picks what a student practises next, by expected gain. Pure.

Owns the formula, for a slice s of the rows:

    gain(s) = weight × headroom × (spread + 1) / (rows + 2)

The weight is the share of s's rows among all rows; the headroom is what the mean of s lacks to the
highest score that can be reached. The last factor is the share of its rows whose samples have
different rewards (`spread`), since practice learns from those alone (decision 0030); one row of
each sort is added, so that a small slice is not certain. Each round that practised a slice without
a gain halves its expected gain.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from app.domain.coach.samples import Measurement, PracticeRow
from app.domain.coach.text_slices import TextSlices
from app.domain.coach.weaknesses import Slice, SliceKind, key_of
from app.domain.data.example_counts import MIN_EXAMPLES
from app.domain.rollouts.metrics import TIE

TOGETHER: Final = 0.5
"""Slices with at least this share of the best slice's gain are practised with it."""
REHEARSAL: Final = 0.25
"""Share of other rows among those that are practised, so that they are not forgotten."""


@dataclass(frozen=True, slots=True)
class SliceGain:
    kind: SliceKind
    name: str
    rows: int
    """Held-out rows with a score."""
    weight: float
    """Their share of all such rows."""
    mean: float
    headroom: float
    """Highest score that can be reached less the mean."""
    spread: int
    """Rows whose samples have different rewards."""
    gain: float
    """Expected gain of the mean over all rows."""

    @property
    def key(self) -> str:
        return key_of(self.kind, self.name)


def expected_gains(
    measurement: Measurement, slices: Sequence[Slice], *, unhelped: Mapping[str, int]
) -> tuple[SliceGain, ...]:
    """Returns the gain of each slice, the largest first. `unhelped` counts the rounds that
    practised a slice without a gain.
    """
    rewards, means = measurement.rewards, measurement.row_means
    reachable = measurement.reachable
    found = []
    for each in slices:
        rows = [row for row in each.rows if row in means]
        if not rows:
            continue
        mean = fmean(means[row] for row in rows)
        spread = sum(max(rewards[row]) - min(rewards[row]) > TIE for row in rows)
        weight, headroom = (
            len(rows) / len(means),
            max(0.0, (mean if reachable is None else reachable) - mean),
        )
        gain = weight * headroom * (spread + 1) / (len(rows) + 2)
        gain *= 0.5 ** unhelped.get(each.key, 0)
        found.append(
            SliceGain(each.kind, each.name, len(rows), weight, mean, headroom, spread, gain)
        )
    return tuple(sorted(found, key=lambda each: (-each.gain, each.key)))


def practice_slices(gains: Sequence[SliceGain], *, least: float) -> tuple[SliceGain, ...]:
    """Returns the slices to practise next; none if no gain reaches `least`."""
    best = max((each.gain for each in gains), default=0.0)
    if best < least:
        return ()
    return tuple(each for each in gains if each.gain >= TOGETHER * best)


def practice_rows(
    keys: Iterable[str], *, training: Sequence[PracticeRow], held_out: Sequence[PracticeRow]
) -> list[int]:
    """Returns the indices of the training rows to practise, in the order of their file: those of
    the slices, and other rows for rehearsal; all rows if the slices have too few. The slices by
    text are those of the held-out rows.
    """
    wanted = set(keys)
    chosen = {
        row.index for row in training if any(key_of("tag", tag) in wanted for tag in row.tags)
    }
    for name, rows in TextSlices(held_out).assigned(training).items():
        if key_of("cluster", name) in wanted:
            chosen |= set(rows)
    others = [row.index for row in training if row.index not in chosen]
    if len(chosen) < MIN_EXAMPLES or not others:
        return [row.index for row in training]
    count = min(len(others), round(len(chosen) * REHEARSAL / (1 - REHEARSAL)))
    rehearsed = [others[number * len(others) // count] for number in range(count)]
    return sorted({*chosen, *rehearsed})
