"""What the rollouts of two models did on the same held-out rows. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, Final

from app.jobs.intervals import Range, difference, paired_gain, range_of_scores
from app.kit.ids import Split

_LISTED: Final = 10
_LOOP: Final = 3
"""Calls of one tool in succession that make a loop."""


@dataclass(frozen=True, slots=True)
class PlayedRollout:
    """A graded rollout without its texts. `seconds`: from the first turn to the score."""

    row: int
    step: int
    reward: float
    completion_tokens: int
    seconds: float
    tools: Sequence[str]
    """The tools of its calls, in order."""
    repeated: int

    @property
    def pairs(self) -> set[tuple[str, ...]]:
        return set(pairwise(self.tools))

    @property
    def loops(self) -> set[tuple[str, ...]]:
        windows = (self.tools[at : at + _LOOP] for at in range(len(self.tools) - _LOOP + 1))
        return {tuple(window) for window in windows if len(set(window)) == 1}


@dataclass(frozen=True, slots=True)
class PlayedSides:
    """The graded rollouts of both models on the rows of which both have some."""

    start: Sequence[PlayedRollout]
    tuned: Sequence[PlayedRollout]

    @classmethod
    def of(cls, played: Iterable[PlayedRollout]) -> "PlayedSides":
        """`played`: rollouts of step 0 and of another step."""
        sides: tuple[list[PlayedRollout], list[PlayedRollout]] = ([], [])
        for one in played:
            sides[one.step > 0].append(one)
        rows = {one.row for one in sides[0]} & {one.row for one in sides[1]}
        return cls(*([one for one in side if one.row in rows] for side in sides))

    def means(self, name: str) -> tuple[dict[int, float], dict[int, float]]:
        return _row_means(self.start, name), _row_means(self.tuned, name)


def _row_means(rollouts: Sequence[PlayedRollout], name: str) -> dict[int, float]:
    values: dict[int, list[float]] = defaultdict(list)
    for one in rollouts:
        found = getattr(one, name)
        values[one.row].append(len(found) if name == "tools" else found)
    return {row: fmean(of_row) for row, of_row in sorted(values.items())}


def before_after(
    sides: PlayedSides, *, split: Split, limit_s: float | None, judged_apart: bool
) -> dict[str, Any]:
    """Returns the JSON of `BeforeAfter`. Rewards that were judged apart have no common scale, so
    that rows are in no quadrant by them.
    """
    limit = percentile([one.seconds for one in sides.start], 0.95) if limit_s is None else limit_s
    rows = _by_row(sides)
    return {
        "split": split,
        "rows": len(rows),
        "seconds_limit": limit,
        "start": _figures(sides.start, limit),
        "tuned": _figures(sides.tuned, limit),
        "completion_tokens": compared(sides, "completion_tokens"),
        "seconds": compared(sides, "seconds"),
        "sequences": _shares(sides, "pairs"),
        "loops": _shares(sides, "loops"),
        "quadrant": None if judged_apart else _quadrant(rows),
        "by_row": [asdict(row) for row in rows],
    }


def compared(
    sides: PlayedSides, name: str, *, looks: int = 1, bounds: Range | None = None
) -> dict[str, Any]:
    """Returns the JSON of a `Comparison` of means over rows. `looks`: steps that could have been
    chosen by these rows.
    """
    before, after = sides.means(name)
    gain = paired_gain(before, after, looks=looks, bounds=bounds)
    return {
        "start_mean": fmean(before.values()),
        "tuned_mean": fmean(after.values()),
        "difference": None if gain is None else gain.mean,
        "difference_ci95": None if gain is None or gain.interval is None else [*gain.interval],
    }


def compared_rewards(
    sides: PlayedSides, *, looks: int, known: Range | None = None
) -> dict[str, Any]:
    """Returns what a report has of rewards and calls. `known`: the grader's range of rewards."""
    before, after = sides.means("reward")
    change = {row: difference(before[row], after[row]) for row in before}
    worse = sorted((row for row in change if change[row] < 0), key=lambda row: (change[row], row))
    wins = sum(by > 0 for by in change.values())
    bounds = range_of_scores(before.values(), after.values(), known=known)
    return {
        "rows": len(change),
        "wins_by": "reward",
        "wins": wins,
        "ties": len(change) - wins - len(worse),
        "losses": len(worse),
        "regressions": [{"row": row, "before": before[row], "after": after[row]} for row in worse],
        "reward": compared(sides, "reward", looks=looks, bounds=bounds),
        "tool_calls": compared(sides, "tools", looks=looks),
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Interpolates between the two values next to it."""
    ordered, place = sorted(values), (len(values) - 1) * share
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
    return low + (high - low) * (place - int(place))


def _figures(rollouts: Sequence[PlayedRollout], limit: float) -> dict[str, Any]:
    seconds, count = [one.seconds for one in rollouts], len(rollouts)
    by_tool = Counter(tool for one in rollouts for tool in one.tools)
    return {
        "rollouts": count,
        "reward": fmean(one.reward for one in rollouts),
        "tool_calls": by_tool.total() / count,
        "calls_by_tool": {tool: calls / count for tool, calls in sorted(by_tool.items())},
        "repeated_calls": fmean(one.repeated for one in rollouts),
        "completion_tokens": fmean(one.completion_tokens for one in rollouts),
        "seconds": fmean(seconds),
        "seconds_p50": percentile(seconds, 0.5),
        "seconds_p95": percentile(seconds, 0.95),
        "over_limit": sum(one > limit for one in seconds) / count,
    }


def _shares(sides: PlayedSides, name: str) -> list[dict[str, Any]]:
    before, after = (
        Counter(found for one in side for found in getattr(one, name))
        for side in (sides.start, sides.tuned)
    )
    commonest = sorted((before + after).items(), key=lambda one: (-one[1], one[0]))[:_LISTED]
    return [
        {
            "tools": [*tools],
            "start": before[tools] / len(sides.start),
            "tuned": after[tools] / len(sides.tuned),
        }
        for tools, _ in commonest
    ]


@dataclass(frozen=True, slots=True)
class RowChange:
    row: int
    start_reward: float
    tuned_reward: float
    start_tool_calls: float
    tuned_tool_calls: float
    start_completion_tokens: float
    tuned_completion_tokens: float
    start_seconds: float
    tuned_seconds: float


def _by_row(sides: PlayedSides) -> list[RowChange]:
    columns: list[Mapping[int, float]] = []
    for name in ("reward", "tools", "completion_tokens", "seconds"):
        columns += sides.means(name)
    return [RowChange(row, *(column[row] for column in columns)) for row in columns[0]]


def _quadrant(rows: Sequence[RowChange]) -> dict[str, int]:
    counts = Counter[str]()
    for row in rows:
        better = difference(row.start_reward, row.tuned_reward)
        more = difference(row.start_tool_calls, row.tuned_tool_calls)
        word = f"{'better' if better > 0 else 'worse'}_{'more' if more > 0 else 'fewer'}_calls"
        counts[word if better and more else "unchanged"] += 1
    names = (f"{how}_{calls}_calls" for how in ("better", "worse") for calls in ("fewer", "more"))
    return {name: counts[name] for name in (*names, "unchanged")}
