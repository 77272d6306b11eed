"""The pairs of a report as a chart, and the change of their tokens and times. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from app.jobs.intervals import Interval, difference, paired_gain
from app.kit.ids import Split
from app.pages.plots import Scatter, Spot
from app.rollouts.rollouts import RowMean

MOST_CHANGED: Final = 10
_COSTS: Final = (
    ("Completion tokens", "completion_tokens"),
    ("Seconds of a rollout", "duration_s"),
)
"""Label, and name of the mean."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One held-out row before and after training."""

    row: int
    before: RowMean
    after: RowMean

    @property
    def difference(self) -> float | None:
        if self.before.reward is None or self.after.reward is None:
            return None
        return difference(self.before.reward, self.after.reward)

    @property
    def more_calls(self) -> float | None:
        if self.before.tool_calls is None or self.after.tool_calls is None:
            return None
        return difference(self.before.tool_calls, self.after.tool_calls)

    @property
    def outcome(self) -> str:
        if self.difference is None:
            return "lost"
        return "win" if self.difference > 0 else "loss" if self.difference < 0 else "tie"


@dataclass(frozen=True, slots=True)
class CostChange:
    """A cost of a rollout before and after training, with the 95 % interval of its change."""

    label: str
    before: float
    after: float
    change: float
    interval: Interval | None


def pairs_of(means: Sequence[RowMean], tuned_step: int) -> list[Pair]:
    """Returns the rows that were sampled before and after, the greatest loss first."""
    by_row_and_step = {(mean.prompt_index, mean.step): mean for mean in means}
    rows = sorted({mean.prompt_index for mean in means})
    pairs = [
        Pair(row, by_row_and_step[row, 0], by_row_and_step[row, tuned_step])
        for row in rows
        if (row, 0) in by_row_and_step and (row, tuned_step) in by_row_and_step
    ]
    return sorted(pairs, key=lambda pair: (pair.difference is None, pair.difference or 0.0))


def most_changed(pairs: Sequence[Pair]) -> list[Pair]:
    """Returns the pairs whose reward changed most, up or down; none that stayed the same."""
    changed = [pair for pair in pairs if pair.difference]
    return sorted(changed, key=lambda pair: -abs(pair.difference or 0.0))[:MOST_CHANGED]


def cost_changes(pairs: Sequence[Pair]) -> Iterator[CostChange]:
    """Yields the change of tokens and time, over the rows that were graded before and after."""
    for label, name in _COSTS:
        sides = [
            (pair.row, getattr(pair.before, name), getattr(pair.after, name)) for pair in pairs
        ]
        known = [(row, old, new) for row, old, new in sides if None not in (old, new)]
        before = {row: old for row, old, _ in known}
        after = {row: new for row, _, new in known}
        gain = paired_gain(before, after)
        if gain is not None:
            first, last = fmean(before.values()), fmean(after.values())
            yield CostChange(label, first, last, gain.mean, gain.interval)


def quadrant(
    job_id: str, split: Split, pairs: Sequence[Pair], *, tuned_step: int
) -> Scatter | None:
    """Returns the changes of reward over those of tool calls; `None` without a pair that has
    both.
    """
    spots = [
        Spot.of_row(
            pair.row,
            pair.more_calls,
            pair.difference,
            href=f"/jobs/{job_id}/rows/{split}/{pair.row}?before=0&now={tuned_step}",
        )
        for pair in pairs
        if pair.difference is not None and pair.more_calls is not None
    ]
    if not spots:
        return None
    counts = [
        f"{sum(1 for spot in spots if better(spot.y) and fewer(spot.x))} rows with {words}"
        for words, better, fewer in (
            ("a higher reward and fewer calls", _above, _below),
            ("a higher reward and more calls", _above, _above),
            ("a lower reward and fewer calls", _below, _below),
            ("a lower reward and more calls", _below, _above),
        )
    ]
    return Scatter(
        "quadrant",
        "Change of reward and of tool calls",
        "change of tool calls",
        "change of the reward",
        f"{', '.join(counts)}; {len(spots)} in all.",
        spots,
    )


def _above(value: float) -> bool:
    return value > 0


def _below(value: float) -> bool:
    return value < 0
