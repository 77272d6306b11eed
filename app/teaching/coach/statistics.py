"""What the Coach measures of a student's attempts, with exact tail probabilities."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, variance
from typing import Any, Final

from app.files.division import tags_of
from app.jobs.intervals import Scale, ScoreRanges, seen_scale, tail_above
from app.rollouts.metrics import TIE
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import StopReason

FALSE_FINDING_RATE: Final = 0.025
"""Probability of any false finding among all of a measurement: one side of 95 %."""
_HALVINGS: Final = 40
_NEGLIGIBLE: Final = 1e-17


def p_value_of_share(share: float, rows: int, *, true: float) -> float:
    total = share * rows
    whole = math.floor(total + TIE)
    below, part = _binomial_tail(whole, rows, true), max(0.0, total - whole)
    if part <= TIE or below == 0.0:
        return below
    above = _binomial_tail(whole + 1, rows, true)
    return float(below ** (1 - part) * above**part)


def share_limits(share: float, rows: int, *, tail: float) -> tuple[float, float]:
    """Returns the lowest and the highest mean that make a share no less likely than `tail`."""
    if rows == 0:
        return 0.0, 1.0
    low = _bisected(lambda true: p_value_of_share(share, rows, true=true) < tail)
    high = _bisected(lambda true: p_value_of_share(1 - share, rows, true=true) < tail)
    return low, 1 - high


def p_value_of_less(fewer: Sequence[float], more: Sequence[float]) -> float:
    """Returns the probability that by chance alone some rows are so much lower than others."""
    count = min(len(fewer), len(more))
    error = math.sqrt(sum(variance(each) / len(each) for each in (fewer, more)))
    return _t_tail(fmean(more) - fmean(fewer), error, count)


def p_value_of_less_within(differences: Sequence[float]) -> float:
    """Returns the same for the values of the same rows, from what each row has less."""
    error = math.sqrt(variance(differences) / len(differences))
    return _t_tail(fmean(differences), error, len(differences))


def p_value_of_none(strata: Iterable[tuple[int, int, int]]) -> float:
    """Returns the probability that by chance alone none of some attempts reaches a score that
    others reach: of each stratum their number, that of the others, and how many of these reach it.
    The tail of the hypergeometric distribution at 0 (Fisher's exact test), over all strata.
    """
    return math.prod(
        math.comb(others, reached) / math.comb(others + attempts, reached)
        for attempts, others, reached in strata
    )


def holm(p_values: Mapping[int, float]) -> dict[int, float]:
    """Returns the tests that hold together, each with the probability that it was held to."""
    held = dict[int, float]()
    for rank, name in enumerate(sorted(p_values, key=lambda each: (p_values[each], each))):
        allowed = FALSE_FINDING_RATE / (len(p_values) - rank)
        if p_values[name] > allowed:
            break
        held[name] = allowed
    return held


def _t_tail(less: float, error: float, rows: int) -> float:
    """Returns the tail of Student's t, at least the probability of equal signs of so many rows:
    few rows that happen to be equal have no error, and prove nothing.
    """
    if less <= TIE:
        return 1.0
    tail = 0.0 if error <= TIE else tail_above(less / error, rows - 1)
    return float(max(tail, 0.5**rows))


def _binomial_tail(least: int, count: int, true: float) -> float:
    if least <= 0:
        return 1.0
    if least > count or true <= 0:
        return 0.0
    if true >= 1:
        return 1.0
    odds = true / (1 - true)
    ways = math.lgamma(count + 1) - math.lgamma(least + 1) - math.lgamma(count - least + 1)
    term = math.exp(ways + least * math.log(true) + (count - least) * math.log1p(-true))
    total = term
    for number in range(least, count):
        term *= odds * (count - number) / (number + 1)
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return min(1.0, total)


def _bisected(is_below: Callable[[float], bool]) -> float:
    """Returns the largest value from 0 to 1 for which, and for all below it, this is true."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


@dataclass(frozen=True, slots=True)
class PracticeRow:
    index: int
    """Number among the lines of its file that are not blank, from 0: `prompt_index` of rollouts."""
    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    rollout_id: str
    row: int
    reward: float | None
    """`None` for an attempt that was lost to a failure of an endpoint."""
    stop_reason: str | None = None
    components: Mapping[str, float] | None = None
    failed_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Measurement:
    samples: tuple[Attempt, ...]
    ranges: ScoreRanges = field(default_factory=ScoreRanges)

    @property
    def scored(self) -> list[Attempt]:
        return [sample for sample in self.samples if sample.reward is not None]

    @property
    def rewards(self) -> dict[int, list[float]]:
        found: dict[int, list[float]] = defaultdict(list)
        for sample in self.samples:
            if sample.reward is not None:
                found[sample.row].append(sample.reward)
        return dict(found)

    @property
    def row_means(self) -> dict[int, float]:
        return {row: fmean(values) for row, values in self.rewards.items()}

    @property
    def mean(self) -> float | None:
        means = self.row_means
        return fmean(means.values()) if means else None

    @property
    def lost(self) -> int:
        return len(self.samples) - len(self.scored)

    @property
    def scale(self) -> Scale:
        return self.ranges.reward or seen_scale(self.rewards)

    @property
    def reachable(self) -> float | None:
        rewards = [value for values in self.rewards.values() for value in values]
        if not rewards or max(rewards) - min(rewards) <= TIE:
            return None
        return self.scale.ceiling


def samples_of(rows: Sequence[RolloutRow]) -> list[Attempt]:
    return [
        Attempt(
            rollout_id=row.id,
            row=row.prompt_index,
            reward=row.reward,
            stop_reason=row.stop_reason,
            components=dict(row.components),
            failed_tools=frozenset(
                str(call.get("name"))
                for turn in row.trace.get("turns") or []
                for call in turn.get("tool_calls") or []
                if call.get("error") is not None
            ),
        )
        for row in rows
    ]


def stopped_short(sample: Attempt) -> bool:
    """Returns True for an attempt that ended without an answer, such as at a limit."""
    return sample.stop_reason not in (None, StopReason.FINAL_ANSWER.value)


def practice_row(index: int, row: Mapping[str, Any]) -> PracticeRow:
    return PracticeRow(index, _question(row.get("messages")), tuple(sorted(tags_of(row))))


def _question(messages: object) -> str:
    if not isinstance(messages, Sequence):
        return ""
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return _text(message.get("content"))
    return ""


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(
        part["text"]
        for part in parts
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    )
