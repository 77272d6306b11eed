"""Finds weaknesses: slices of the rows, and kinds of attempts, that clearly lack score. Pure.

Owns the rule. A slice of the rows (a tag, similar texts) lacks the share of the score's range
between its mean and the highest score; a kind of attempt (a stop reason, a failing tool, a low
grader component) is a share of the attempts. A weakness is a share that is clearly above
`LEAST_SHARE`, with rows as the observations: samples of one row resemble each other. Attempts of a
kind must clearly have less score than the other attempts, too: a detour that succeeds as often is
no weakness.

Many slices and kinds are tested at once, so Holm's rule holds them together: over all of them, a
session names any weakness by chance with a probability of at most `FALSE_FINDING_RATE`. The
interval of a weakness is that of the test that it passed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from app.domain.coach.hypothesis_tests import (
    holm,
    p_value_of_less,
    p_value_of_less_within,
    p_value_of_none,
    p_value_of_share,
    share_limits,
)
from app.domain.coach.samples import (
    Attempt,
    Measurement,
    PracticeRow,
    stopped_short,
)
from app.domain.coach.scales import Scale, ScoreRanges, seen_scale
from app.domain.coach.text_slices import TextSlices
from app.domain.rollouts.metrics import TIE

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
_FEWEST_WITHIN: Final = 6
"""Rows with attempts of both sorts from which sorts are compared within rows."""


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
    """Returns the tags with enough rows, and those of similar texts that are no tag's rows; all
    rows as one slice without either.
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
    by_text = [
        Slice("cluster", each.name, each.rows)
        for each in TextSlices(rows).slices
        if each.rows not in tagged
    ]
    found = [*tags, *by_text][:MOST_SLICES]
    return found or [Slice("all", ALL_ROWS, tuple(row.index for row in rows))]


def find_weaknesses(
    measurement: Measurement, slices: Sequence[Slice], *, ceiling: float | None = None
) -> tuple[Weakness, ...]:
    """Returns all weaknesses, the largest lacking share of all rows first. `ceiling`: a score to
    reach that is above the scale of the measurement.
    """
    scale = measurement.scale
    if ceiling is not None:
        scale = Scale(scale.floor, max(scale.ceiling, ceiling))
    suspects = [
        *_lacking(measurement, slices, scale),
        *_kinds(measurement.scored, measurement.ranges, scale),
    ]
    held = holm({number: each.p_value for number, each in enumerate(suspects)})
    found = [suspects[number].weakness(allowed) for number, allowed in held.items()]
    return tuple(sorted(found, key=lambda each: (-each.share * each.rows, each.kind, each.name)))


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A slice or kind that is tested."""

    kind: WeaknessKind
    name: str
    rows: int
    share: float
    attempts: Sequence[Attempt]
    mean: float | None
    score_p_value: float = 0.0
    """Probability that its attempts have so much less score than others by chance alone."""

    @property
    def p_value(self) -> float:
        return max(self.score_p_value, p_value_of_share(self.share, self.rows, true=LEAST_SHARE))

    def weakness(self, allowed: float) -> Weakness:
        """Returns the weakness of a test that was held to this probability."""
        limits = share_limits(self.share, self.rows, tail=allowed)
        worst = _worst(self.attempts)
        return Weakness(self.kind, self.name, self.rows, self.share, limits, self.mean, worst)


def _lacking(measurement: Measurement, slices: Sequence[Slice], scale: Scale) -> Iterable[_Suspect]:
    means = measurement.row_means
    for each in slices:
        rows = frozenset(each.rows)
        values = [means[row] for row in each.rows if row in means]
        if len(values) >= FEWEST_ROWS:
            share = fmean(scale.shortfall(value) for value in values)
            of_slice = [sample for sample in measurement.scored if sample.row in rows]
            yield _Suspect(each.kind, each.name, len(values), share, of_slice, fmean(values))


def _kinds(scored: Sequence[Attempt], ranges: ScoreRanges, scale: Scale) -> Iterable[_Suspect]:
    reasons = {each.stop_reason for each in scored if stopped_short(each)}
    for reason in sorted(str(reason) for reason in reasons):
        yield from _kind("stop_reason", reason, scored, scale, _stops_at(reason))
    for tool in sorted({name for each in scored for name in each.failed_tools}):
        yield from _kind("failing_tool", tool, scored, scale, _fails(tool))
    for name in sorted({name for each in scored for name in each.components or ()}):
        having = [each for each in scored if name in (each.components or {})]
        seen = seen_scale(_by_row(having, _value_of(name)))
        lacks = _lacks(name, ranges.components.get(name) or seen)
        yield from _kind("component", name, having, scale, lacks)


def _value_of(component: str) -> Callable[[Attempt], float]:
    return lambda each: (each.components or {})[component]


def _lacks(component: str, scale: Scale) -> Callable[[Attempt], float]:
    value_of = _value_of(component)
    return lambda each: scale.shortfall(value_of(each))


def _kind(
    kind: WeaknessKind,
    name: str,
    scored: Sequence[Attempt],
    scale: Scale,
    share_of: Callable[[Attempt], float],
) -> Iterable[_Suspect]:
    shares = _by_row(scored, share_of)
    concerned = [each for each in scored if share_of(each) > LEAST_SHARE]
    if len(shares) >= FEWEST_ROWS and concerned:
        share = fmean(fmean(values) for values in shares.values())
        others = [each for each in scored if share_of(each) <= LEAST_SHARE]
        mean = fmean(_reward(each) for each in concerned)
        p_value = _score_p_value(concerned, others, scale)
        yield _Suspect(kind, name, len(shares), share, concerned, mean, p_value)


def _score_p_value(concerned: Sequence[Attempt], others: Sequence[Attempt], scale: Scale) -> float:
    """Returns the probability that attempts have so much less score than others by chance: within
    rows that have both, or else between rows. Without other attempts the scale is compared.
    """
    with_kind, without = _row_means(concerned), _row_means(others)
    both = with_kind.keys() & without.keys()
    lowest = min(map(_reward, [*concerned, *others]))
    if len(both) >= _FEWEST_WITHIN:
        less = p_value_of_less_within([without[row] - with_kind[row] for row in sorted(both)])
        if max(with_kind[row] for row in both) > lowest + TIE:
            return less
        kinds, rest = _by_row(concerned, _reward), _by_row(others, _reward)
        strata = ((len(kinds[row]), len(rest[row]), _above(lowest, rest[row])) for row in both)
        return max(less, p_value_of_none(strata))
    if len(without) < FEWEST_ROWS:
        share = fmean(scale.shortfall(value) for value in with_kind.values())
        return p_value_of_share(share, len(with_kind), true=LEAST_SHARE)
    if len(with_kind) < FEWEST_ROWS:
        return 1.0
    less = p_value_of_less(list(with_kind.values()), list(without.values()))
    if max(with_kind.values()) > lowest + TIE:
        return less
    none = [(len(with_kind), len(without), _above(lowest, without.values()))]
    return max(less, p_value_of_none(none))


def _above(lowest: float, rewards: Iterable[float]) -> int:
    return sum(reward > lowest + TIE for reward in rewards)


def _row_means(samples: Sequence[Attempt]) -> dict[int, float]:
    return {row: fmean(values) for row, values in _by_row(samples, _reward).items()}


def _by_row(
    samples: Sequence[Attempt], value_of: Callable[[Attempt], float]
) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for each in samples:
        found.setdefault(each.row, []).append(value_of(each))
    return found


def _reward(sample: Attempt) -> float:
    return sample.reward or 0.0


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
