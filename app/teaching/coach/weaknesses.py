"""Divides rows by their texts, without a model: rows that share rare words are a slice. Pure.

A row's text is a vector over its words, each weighed by how rare it is among the rows (TF-IDF).
Numbers and quoted names are left out, because they differ from row to row. Each row joins the most
similar earlier slice, or founds one. The order of the rows alone decides, so that the same rows
give the same slices.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from app.jobs.intervals import Scale, ScoreRanges, seen_scale
from app.kit.fields import DescribedFields
from app.rollouts.metrics import TIE
from app.teaching.coach.statistics import (
    Attempt,
    Measurement,
    PracticeRow,
    holm,
    p_value_of_less,
    p_value_of_less_within,
    p_value_of_none,
    p_value_of_share,
    share_limits,
    stopped_short,
)

MOST_TEXT_SLICES: Final = 12
"""Slices that a set of rows is divided into at most; rows beyond join the most similar one."""
FEWEST_ROWS: Final = 6
"""Rows below which similar rows are no slice: its interval would be too wide."""
_SIMILAR: Final = 0.3
"""Cosine from which two texts are of one slice."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^'\s]*'|`[^`]*`|\d+")
_READ: Final = 4000
_NAMED_BY: Final = 3

Vector = dict[str, float]


SliceKind = Literal["tag", "cluster", "all"]


@dataclass(frozen=True, slots=True)
class Slice:
    kind: SliceKind
    name: str
    rows: tuple[int, ...]

    @property
    def key(self) -> str:
        return key_of(self.kind, self.name)


def key_of(kind: SliceKind, name: str) -> str:
    return f"{kind}:{name}"


class TextSlices:
    """The slices of some rows by their texts, which other rows can be assigned to."""

    def __init__(self, rows: Sequence[PracticeRow]) -> None:
        words = [_words(row.text) for row in rows]
        seen = Counter(word for counted in words for word in counted)
        self._weight = {word: math.log((1 + len(rows)) / count) for word, count in seen.items()}
        self._founders: list[Vector] = []
        self._members: list[list[tuple[int, Counter[str]]]] = []
        for row, counted in zip(rows, words, strict=True):
            self._join(row.index, counted)

    @property
    def slices(self) -> list[Slice]:
        found = [
            Slice("cluster", self._name(number), tuple(row for row, _ in members))
            for number, members in enumerate(self._members)
            if len(members) >= FEWEST_ROWS
        ]
        return found if len(self._members) > 1 else []

    def assigned(self, rows: Sequence[PracticeRow]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row in rows:
            number, likeness = self._nearest(self._vector(_words(row.text)))
            if number is not None and likeness >= _SIMILAR:
                found.setdefault(self._name(number), []).append(row.index)
        return found

    def _join(self, index: int, counted: Counter[str]) -> None:
        vector = self._vector(counted)
        number, likeness = self._nearest(vector)
        if number is None or (likeness < _SIMILAR and len(self._founders) < MOST_TEXT_SLICES):
            self._founders.append(vector)
            self._members.append([(index, counted)])
            return
        self._members[number].append((index, counted))

    def _nearest(self, vector: Vector) -> tuple[int | None, float]:
        best: tuple[int | None, float] = (None, -1.0)
        for number, founder in enumerate(self._founders):
            likeness = sum(weight * founder.get(word, 0.0) for word, weight in vector.items())
            if likeness > best[1]:
                best = (number, likeness)
        return best

    def _vector(self, counted: Mapping[str, int]) -> Vector:
        weighed = {word: count * self._weight.get(word, 0.0) for word, count in counted.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values()))
        return {word: weight / length for word, weight in weighed.items()} if length else {}

    def _name(self, number: int) -> str:
        members = self._members[number]
        inside = Counter(word for _, counted in members for word in counted)
        everywhere = Counter(
            word for others in self._members for _, counted in others for word in counted
        )
        telling = sorted(
            inside, key=lambda word: (-(inside[word] ** 2 / everywhere[word]), -len(word), word)
        )
        return " ".join(telling[:_NAMED_BY]) or f"cluster {number + 1}"


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_QUOTED.sub(" ", text[:_READ]).lower()))


WeaknessKind = Literal[SliceKind, "component", "stop_reason", "failing_tool"]
LEAST_SHARE: Final = 0.05
"""Share that is too small to be a weakness, even if it is certain."""
EXAMPLES: Final = 3
WEAKNESSES_FEWEST_ROWS: Final = 3
"""Rows below which a tag is no slice."""
MOST_SLICES: Final = 64
ALL_ROWS: Final = "all rows"
"""Name of the slice of the rows that nothing divides."""
_FEWEST_WITHIN: Final = 6
"""Rows with attempts of both sorts from which sorts are compared within rows."""


@dataclass(frozen=True, slots=True)
class CoachWeakness(DescribedFields):
    """A slice of the rows, or a kind of attempt, that clearly lacks score."""

    kind: WeaknessKind
    """`tag`, `cluster` (similar texts) or `all` for a slice of the rows; else a kind of attempt."""
    name: str
    """The tag, the words of similar texts, the component, the stop reason, or the tool."""
    rows: int
    """Rows that were compared."""
    share: float
    """Lacking share of the score's range, or share of the attempts: 0 to 1."""
    interval: Sequence[float]
    """Interval of the share, which allows for all slices and kinds that were compared."""
    mean: float | None
    """Mean score of the slice, or of the attempts of that kind."""
    examples: tuple[str, ...]
    """Ids of rollouts with the lowest scores, in the job of `measured_in`."""


def slices_of(rows: Sequence[PracticeRow]) -> list[Slice]:
    by_tag: dict[str, list[int]] = {}
    for row in rows:
        for tag in row.tags:
            by_tag.setdefault(tag, []).append(row.index)
    tags = [
        Slice("tag", name, tuple(members))
        for name, members in sorted(by_tag.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        if len(members) >= WEAKNESSES_FEWEST_ROWS
    ]
    tagged = {each.rows for each in tags}
    by_text = [each for each in TextSlices(rows).slices if each.rows not in tagged]
    found = [*tags, *by_text][:MOST_SLICES]
    return found or [Slice("all", ALL_ROWS, tuple(row.index for row in rows))]


def find_weaknesses(
    measurement: Measurement, slices: Sequence[Slice], *, ceiling: float | None = None
) -> tuple[CoachWeakness, ...]:
    """Returns the weaknesses, largest lacking share first. `ceiling`: a score above the scale."""
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

    def weakness(self, allowed: float) -> CoachWeakness:
        limits = share_limits(self.share, self.rows, tail=allowed)
        worst = _worst(self.attempts)
        return CoachWeakness(self.kind, self.name, self.rows, self.share, limits, self.mean, worst)


def _lacking(measurement: Measurement, slices: Sequence[Slice], scale: Scale) -> Iterable[_Suspect]:
    means = measurement.row_means
    for each in slices:
        rows = frozenset(each.rows)
        values = [means[row] for row in each.rows if row in means]
        if len(values) >= WEAKNESSES_FEWEST_ROWS:
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
    if len(shares) >= WEAKNESSES_FEWEST_ROWS and concerned:
        share = fmean(fmean(values) for values in shares.values())
        others = [each for each in scored if share_of(each) <= LEAST_SHARE]
        mean = fmean(_reward(each) for each in concerned)
        p_value = _score_p_value(concerned, others, scale)
        yield _Suspect(kind, name, len(shares), share, concerned, mean, p_value)


def _score_p_value(concerned: Sequence[Attempt], others: Sequence[Attempt], scale: Scale) -> float:
    """Returns the probability that attempts lack so much score by chance, within rows if it can."""
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
    if len(without) < WEAKNESSES_FEWEST_ROWS:
        share = fmean(scale.shortfall(value) for value in with_kind.values())
        return p_value_of_share(share, len(with_kind), true=LEAST_SHARE)
    if len(with_kind) < WEAKNESSES_FEWEST_ROWS:
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
    ordered = sorted(samples, key=lambda each: (each.reward or 0.0, each.row, each.rollout_id))
    lowest = {each.row: each for each in reversed(ordered)}
    worst = sorted(lowest.values(), key=lambda each: (each.reward or 0.0, each.row))
    return tuple(each.rollout_id for each in worst[:EXAMPLES])
