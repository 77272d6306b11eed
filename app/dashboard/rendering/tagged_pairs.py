"""The pairs of a report by the tags of their rows. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from app.dashboard.rendering.changes import Pair
from app.domain.jobs.curves.gains import Gain, paired_gain
from app.domain.jobs.curves.intervals import Range, range_of_scores

MOST_TAGS: Final = 100
_UNTAGGED: Final = ""


@dataclass(frozen=True, slots=True)
class TagComparison:
    """The rows with one tag before and after training."""

    tag: str
    """Empty for the rows without a tag."""
    wins: int
    ties: int
    losses: int
    before: float
    after: float
    gain: Gain

    @property
    def rows(self) -> int:
        return self.wins + self.ties + self.losses


def by_tag(
    pairs: Sequence[Pair], tags: Mapping[int, Sequence[str]], *, known: Range | None = None
) -> list[TagComparison]:
    """Returns the tags, those that lost most first. A row with several tags counts for each; empty
    if no row has one. `known`: range of the rewards by the grader's definition.
    """
    graded = [pair for pair in pairs if pair.difference is not None]
    if not any(pair.row in tags for pair in graded):
        return []
    tagged: dict[str, list[Pair]] = {}
    for pair in graded:
        for tag in tags.get(pair.row) or (_UNTAGGED,):
            tagged.setdefault(tag, []).append(pair)
    rewards = [mean.reward or 0.0 for pair in graded for mean in (pair.before, pair.after)]
    bounds = range_of_scores(rewards, known=known)
    found = [_compared(tag, rows, bounds) for tag, rows in tagged.items()]
    return sorted(found, key=lambda one: (one.tag == _UNTAGGED, one.gain.mean, one.tag))


def _compared(tag: str, pairs: Sequence[Pair], bounds: Range) -> TagComparison:
    before = {pair.row: pair.before.reward or 0.0 for pair in pairs}
    after = {pair.row: pair.after.reward or 0.0 for pair in pairs}
    gain = paired_gain(before, after, bounds=bounds)
    if gain is None:
        raise ValueError(f"the tag {tag!r} has no row")
    outcomes = [pair.outcome for pair in pairs]
    return TagComparison(
        tag,
        outcomes.count("win"),
        outcomes.count("tie"),
        outcomes.count("loss"),
        fmean(before.values()),
        fmean(after.values()),
        gain,
    )
