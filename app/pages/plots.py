"""What a page says of a job's rewards: histograms and scatter charts as SVG without a script, the
pairs of its report, its standing. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Any, Final

from app.jobs.findings import watched_by
from app.jobs.intervals import Gain, Interval, Range, difference, paired_gain, range_of_scores
from app.jobs.jobs import Job, Verdict
from app.jobs.stop_rules import LOSSES, REWARD
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.rollouts.rollouts import BINS, PASS_KINDS, BaselineRow, RewardHistogram, RowMean

COLUMNS: Final = 24
_LEFT: Final = 44.0
_RIGHT: Final = 350.0
_TOP: Final = 8.0
_BOTTOM: Final = 158.0
_FAINTEST: Final = 0.12
"""Opacity of the cell of a single rollout among many."""


@dataclass(frozen=True, slots=True)
class Cell:
    x: float
    y: float
    width: float
    height: float
    opacity: float
    title: str


@dataclass(frozen=True, slots=True)
class HistogramStrip:
    histogram: RewardHistogram

    @property
    def steps(self) -> list[int]:
        return sorted(self.histogram.counts)

    @property
    def cells(self) -> list[Cell]:
        steps = self.steps
        width = (_RIGHT - _LEFT) / len(steps)
        height = (_BOTTOM - _TOP) / BINS
        return [
            Cell(
                x=round(_LEFT + column * width, 1),
                y=round(_BOTTOM - (row + 1) * height, 1),
                width=round(width * 0.94, 1),
                height=round(height * 0.94, 1),
                opacity=round(_FAINTEST + (1 - _FAINTEST) * count / sum(counts), 2),
                title=f"Step {step}: {count} of {sum(counts)} rollouts",
            )
            for column, step in enumerate(steps)
            for counts in (self.histogram.counts[step],)
            for row, count in enumerate(counts)
            if count
        ]

    @property
    def summary(self) -> str:
        first, last = (self._upper_half(step) for step in (self.steps[0], self.steps[-1]))
        middle = (self.histogram.low + self.histogram.high) / 2
        return (
            f"rewards from {self.histogram.low:.4g} to {self.histogram.high:.4g}; "
            f"{first:.0%} of the rollouts of step {self.steps[0]} earned {middle:.4g} or more, "
            f"{last:.0%} of step {self.steps[-1]}."
        )

    def _upper_half(self, step: int) -> float:
        counts: Sequence[int] = self.histogram.counts[step]
        return sum(counts[BINS // 2 :]) / sum(counts)


_TOP_SCATTERS: Final = 10.0
_BOTTOM_SCATTERS: Final = 216.0
_MARGIN: Final = 0.06
"""Space beside the outermost dots, as a share of the axis."""
_SMALLEST: Final = 3.5
_LARGEST: Final = 12.0
_DECIMALS: Final = 6
_MOST_ROWS: Final = 8
"""Rows that the title of a dot names at most."""


@dataclass(frozen=True, slots=True)
class Spot:
    x: float
    y: float
    label: str
    href: str

    @classmethod
    def of_row(cls, row: int, x: float, y: float, *, href: str) -> "Spot":
        """Returns the spot of a row; values that differ by rounding alone are at one place."""
        return cls(round(x, _DECIMALS), round(y, _DECIMALS), f"Row {row}", href)


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    radius: float
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Mark:
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Scatter:
    id: str
    title: str
    x_label: str
    y_label: str
    summary: str
    spots: Sequence[Spot]

    @property
    def dots(self) -> list[Dot]:
        """The circles, the largest first, so that none covers another one wholly."""
        together: dict[tuple[float, float], list[Spot]] = {}
        for spot in self.spots:
            together.setdefault((spot.x, spot.y), []).append(spot)
        across, up = self._axis_x, self._axis_y
        dots = [
            Dot(
                across.position(x),
                up.position(y),
                round(min(_LARGEST, _SMALLEST * sqrt(len(spots))), 1),
                _names(spots),
                spots[0].href,
            )
            for (x, y), spots in together.items()
        ]
        return sorted(dots, key=lambda dot: -dot.radius)

    @property
    def marks_x(self) -> list[Mark]:
        return self._axis_x.marks

    @property
    def marks_y(self) -> list[Mark]:
        return self._axis_y.marks

    @property
    def _axis_x(self) -> "_Axis":
        return _Axis.around([spot.x for spot in self.spots], _LEFT, _RIGHT)

    @property
    def _axis_y(self) -> "_Axis":
        return _Axis.around([spot.y for spot in self.spots], _BOTTOM_SCATTERS, _TOP_SCATTERS)


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    begin: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], begin: float, end: float) -> "_Axis":
        low, high = min(0.0, *values), max(0.0, *values)
        return cls(low, high if high > low else low + 1.0, begin, end)

    def position(self, value: float) -> float:
        scale = max(-self.low, self.high)  # the length of an axis of huge values is no float
        low, high = self.low / scale, self.high / scale
        span = (high - low) * (1 + 2 * _MARGIN)
        share = (value / scale - low) / span + _MARGIN / (1 + 2 * _MARGIN)
        return round(self.begin + share * (self.end - self.begin), 1)

    @property
    def marks(self) -> list[Mark]:
        return [Mark(self.position(value), value) for value in sorted({self.low, 0.0, self.high})]


def _names(spots: Sequence[Spot]) -> str:
    named = ", ".join(spot.label for spot in spots[:_MOST_ROWS])
    left_out = len(spots) - _MOST_ROWS
    return named if left_out <= 0 else f"{named} and {left_out} more"


def spread_parts(
    rows: Sequence[BaselineRow], links: Mapping[int, str], *, listed: int
) -> dict[str, Any]:
    return {
        "kinds": PASS_KINDS,
        "chart": _spread_chart(rows, links),
        "rows": rows[:listed],
        "links": links,
        "more_rows": max(0, len(rows) - listed),
    }


def _spread_chart(rows: Sequence[BaselineRow], links: Mapping[int, str]) -> Scatter | None:
    if not rows:
        return None
    spots = [Spot.of_row(one.row, one.mean, one.deviation, href=links[one.row]) for one in rows]
    means, spreads = [spot.x for spot in spots], [spot.y for spot in spots]
    return Scatter(
        "spread",
        "Spread of each row",
        "mean reward",
        "standard deviation of the rewards",
        f"{len(rows)} rows, means from {min(means):.4g} to {max(means):.4g}, "
        f"standard deviations from {min(spreads):.4g} to {max(spreads):.4g}.",
        spots,
    )


LISTED: Final = (REWARD.valid, LOSSES.valid, names.DISCARDED_SHARE)


@dataclass(frozen=True, slots=True)
class Standing:
    before: float | None
    now: float | None
    is_reward: bool
    lost: float | None
    verdict: Verdict | None
    is_validated: bool
    """True if `now` measures held-out rows, as `before` does; otherwise it measures the latest
    training step, whose rows and temperature differ, so that the two are not comparable.
    """

    @property
    def gain(self) -> float | None:
        if self.before is None or self.now is None or not self.is_validated:
            return None
        return self.now - self.before

    @property
    def colour(self) -> str:
        """The class of the gain; of a job that has ended only a gain that its report shows."""
        if self.verdict == "loss":
            return "worse"
        if not self.gain or self.verdict in ("no_clear_gain", "not_measured"):
            return "same"
        return "better" if (self.gain > 0) is self.is_reward else "worse"


def standing(job: Job, points: Sequence[MetricPoint]) -> Standing:
    watched = watched_by(job.method)
    ends: dict[tuple[str, Split], list[MetricPoint]] = {}
    for point in points:
        ends.setdefault((point.name, point.split), []).append(point)
    valid = ends.get((watched.valid, "valid"), [])
    train = ends.get((watched.train, "train"), [])
    lost = ends.get((names.DISCARDED_SHARE, "train")) or ends.get((names.DISCARDED_SHARE, "valid"))
    before = valid[0].value if valid and valid[0].step == 0 else None
    is_validated = bool(valid) and valid[-1].step > 0
    now = valid[-1] if is_validated else (train[-1] if train else None)
    return Standing(
        before,
        None if now is None else now.value,
        is_reward=watched.is_reward,
        lost=None if lost is None else lost[-1].value,
        verdict=job.verdict,
        is_validated=is_validated,
    )


MOST_CHANGED: Final = 10
_COSTS: Final = (("Completion tokens", "completion_tokens"), ("Seconds of a rollout", "duration_s"))
"""Label, and name of the mean."""


@dataclass(frozen=True, slots=True)
class Pair:
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
    label: str
    before: float
    after: float
    change: float
    interval: Interval | None


def pairs_of(means: Sequence[RowMean], tuned_step: int) -> list[Pair]:
    by_row_and_step = {(mean.prompt_index, mean.step): mean for mean in means}
    rows = sorted({mean.prompt_index for mean in means})
    pairs = [
        Pair(row, by_row_and_step[row, 0], by_row_and_step[row, tuned_step])
        for row in rows
        if (row, 0) in by_row_and_step and (row, tuned_step) in by_row_and_step
    ]
    return sorted(pairs, key=lambda pair: (pair.difference is None, pair.difference or 0.0))


def most_changed(pairs: Sequence[Pair]) -> list[Pair]:
    changed = [pair for pair in pairs if pair.difference]
    return sorted(changed, key=lambda pair: -abs(pair.difference or 0.0))[:MOST_CHANGED]


def cost_changes(pairs: Sequence[Pair]) -> Iterator[CostChange]:
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


MOST_TAGS: Final = 100
_UNTAGGED: Final = ""


@dataclass(frozen=True, slots=True)
class TagComparison:
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
    """A row with several tags counts for each. `known`: range of the rewards by the grader."""
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
