"""Finds weaknesses: slices of the rows, and kinds of attempts, that clearly lack score. Pure.

Owns the rule. A slice of the rows (a tag, a cluster of texts) lacks the share of the score's range
between its mean and the highest reward that was seen; a kind of attempt (a stop reason, a failing
tool, a low grader component) is a share of the attempts. The interval of either share is Wilson's,
at 95 %, with rows as the observations: samples of one row resemble each other, so counting them
would make it too narrow. A weakness is a share whose interval begins above `LEAST_SHARE`, and
attempts of a kind must lack score: a detour that always succeeds is none.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from app.domain.coach.clusters import TextClusters
from app.domain.coach.samples import Attempt, Measurement, PracticeRow, Scale, stopped_short

SliceKind = Literal["tag", "cluster", "all"]
WeaknessKind = Literal[SliceKind, "component", "stop_reason", "failing_tool"]
LEAST_SHARE: Final = 0.05
"""Share that is too small to be a weakness, even if it is certain."""
EXAMPLES: Final = 3
FEWEST_ROWS: Final = 3
"""Rows below which a tag is no slice."""
MOST_SLICES: Final = 64
ALL_ROWS: Final = "all rows"
"""Name of the slice of the rows that nothing divides."""
_Z: Final = 1.959964


@dataclass(frozen=True, slots=True)
class Weakness:
    kind: WeaknessKind
    name: str
    rows: int
    """Rows of the slice; for a kind of attempt, all rows."""
    share: float
    """Lacking share of the score's range, or share of the attempts."""
    interval: tuple[float, float]
    mean: float | None
    """Mean reward of the slice, or of the attempts of that kind."""
    examples: tuple[str, ...]
    """Ids of rollouts with the lowest rewards."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows that can be practised together, because a rule finds such rows among the training rows,
    too.
    """

    kind: SliceKind
    name: str
    rows: tuple[int, ...]

    @property
    def key(self) -> str:
        return key_of(self.kind, self.name)


def key_of(kind: SliceKind, name: str) -> str:
    """Returns the key by which a session remembers a slice."""
    return f"{kind}:{name}"


def slices_of(rows: Sequence[PracticeRow]) -> list[Slice]:
    """Returns the tags with enough rows, and the clusters of texts that are no tag's rows; all rows
    as one slice without either.
    """
    by_tag: dict[str, list[int]] = {}
    for row in rows:
        for tag in row.tags:
            by_tag.setdefault(tag, []).append(row.index)
    tags = [
        Slice("tag", name, tuple(members))
        for name, members in sorted(by_tag.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        if len(members) >= FEWEST_ROWS
    ]
    tagged = {each.rows for each in tags}
    clusters = [
        Slice("cluster", each.name, each.rows)
        for each in TextClusters(rows).clusters
        if each.rows not in tagged
    ]
    found = [*tags, *clusters][:MOST_SLICES]
    return found or [Slice("all", ALL_ROWS, tuple(row.index for row in rows))]


def find_weaknesses(
    measurement: Measurement, slices: Sequence[Slice], *, ceiling: float | None = None
) -> tuple[Weakness, ...]:
    """Returns all weaknesses, the largest lacking share of all rows first. `ceiling`: a score to
    reach that is above what was seen.
    """
    scale = measurement.scale
    if ceiling is not None:
        scale = Scale(scale.floor, max(scale.ceiling, ceiling))
    found = [*_lacking(measurement, slices, scale), *_kinds(measurement)]
    return tuple(sorted(found, key=lambda each: (-each.share * each.rows, each.kind, each.name)))


def wilson(share: float, count: int) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a share of `count` observations. For a mean of values
    between 0 and 1 it is wider than needed, never narrower.
    """
    if count == 0:
        return 0.0, 1.0
    square = _Z * _Z / count
    middle = (share + square / 2) / (1 + square)
    reach = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _lacking(measurement: Measurement, slices: Sequence[Slice], scale: Scale) -> Iterable[Weakness]:
    means = measurement.row_means
    for each in slices:
        values = [means[row] for row in each.rows if row in means]
        if len(values) < FEWEST_ROWS:
            continue
        share = fmean(scale.shortfall(value) for value in values)
        interval = wilson(share, len(values))
        if interval[0] > LEAST_SHARE:
            of_slice = [sample for sample in measurement.scored if sample.row in set(each.rows)]
            yield Weakness(
                each.kind,
                each.name,
                len(values),
                share,
                interval,
                fmean(values),
                _worst(of_slice),
            )


def _kinds(measurement: Measurement) -> Iterable[Weakness]:
    scored = measurement.scored
    scale = measurement.scale
    for weakness in _kinds_of_attempts(scored):
        if scale.ceiling <= 0 or scale.shortfall(weakness.mean or 0.0) > LEAST_SHARE:
            yield weakness


def _kinds_of_attempts(scored: Sequence[Attempt]) -> Iterable[Weakness]:
    reasons = {each.stop_reason for each in scored if stopped_short(each)}
    for reason in sorted(str(reason) for reason in reasons):
        yield from _kind("stop_reason", reason, scored, _stops_at(reason))
    for tool in sorted({name for each in scored for name in each.failed_tools}):
        yield from _kind("failing_tool", tool, scored, _fails(tool))
    yield from _components(scored)


def _components(scored: Sequence[Attempt]) -> Iterable[Weakness]:
    """Yields the components of the grader that are low although some attempt had them high."""
    for name in sorted({name for each in scored for name in each.components or ()}):
        having = [each for each in scored if name in (each.components or {})]
        values = [_component(each, name) for each in having]
        scale = Scale(min(0.0, *values), max(values))
        yield from _kind("component", name, having, _lacks(name, scale))


def _component(sample: Attempt, name: str) -> float:
    return (sample.components or {})[name]


def _lacks(name: str, scale: Scale) -> Callable[[Attempt], float]:
    return lambda each: scale.shortfall(_component(each, name))


def _kind(
    kind: WeaknessKind, name: str, scored: Sequence[Attempt], share_of: Callable[[Attempt], float]
) -> Iterable[Weakness]:
    shares: dict[int, list[float]] = {}
    for each in scored:
        shares.setdefault(each.row, []).append(share_of(each))
    if len(shares) < FEWEST_ROWS:
        return
    share = fmean(fmean(values) for values in shares.values())
    interval = wilson(share, len(shares))
    if interval[0] > LEAST_SHARE:
        concerned = [each for each in scored if share_of(each) > LEAST_SHARE]
        rewards = [each.reward for each in concerned if each.reward is not None]
        mean = fmean(rewards) if rewards else None
        yield Weakness(kind, name, len(shares), share, interval, mean, _worst(concerned))


def _stops_at(reason: str) -> Callable[[Attempt], float]:
    return lambda each: float(each.stop_reason == reason)


def _fails(tool: str) -> Callable[[Attempt], float]:
    return lambda each: float(tool in each.failed_tools)


def _worst(samples: Sequence[Attempt]) -> tuple[str, ...]:
    """Returns rollouts with the lowest rewards, of different rows as far as there are."""
    ordered = sorted(samples, key=lambda each: (each.reward or 0.0, each.row, each.rollout_id))
    lowest = {each.row: each for each in reversed(ordered)}
    worst = sorted(lowest.values(), key=lambda each: (each.reward or 0.0, each.row))
    return tuple(each.rollout_id for each in worst[:EXAMPLES])
