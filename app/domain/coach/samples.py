"""Reads attempts of a model: rows with their tags, and the scored samples of each row. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from app.domain.coach.scales import Scale, ScoreRanges, seen_scale
from app.domain.data.row_tags import tags_of
from app.domain.rollouts.metrics import TIE
from app.domain.rollouts.rollouts import RolloutRow
from app.domain.rollouts.trajectory import StopReason


@dataclass(frozen=True, slots=True)
class PracticeRow:
    """The parts of a row by which rows are divided."""

    index: int
    """Number among the lines of its file that are not blank, from 0: `prompt_index` of rollouts."""
    text: str
    """The last message of a user."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One scored or lost attempt at a row."""

    rollout_id: str
    row: int
    reward: float | None
    """`None` for an attempt that was lost to a failure of an endpoint."""
    stop_reason: str | None = None
    components: Mapping[str, float] | None = None
    failed_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Measurement:
    """The attempts of one model at the same rows."""

    samples: tuple[Attempt, ...]
    ranges: ScoreRanges = field(default_factory=ScoreRanges)

    @property
    def scored(self) -> list[Attempt]:
        return [sample for sample in self.samples if sample.reward is not None]

    @property
    def rewards(self) -> dict[int, list[float]]:
        """Returns the rewards of each row."""
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
        """Returns the mean over rows of their mean rewards, `None` without any reward."""
        means = self.row_means
        return fmean(means.values()) if means else None

    @property
    def lost(self) -> int:
        return len(self.samples) - len(self.scored)

    @property
    def scale(self) -> Scale:
        """Returns the range of the grader, or else that which was seen."""
        return self.ranges.reward or seen_scale(self.rewards)

    @property
    def reachable(self) -> float | None:
        """Returns the score that practice can reach; `None` while all attempts score alike, since
        practice learns from differences alone.
        """
        rewards = [value for values in self.rewards.values() for value in values]
        if not rewards or max(rewards) - min(rewards) <= TIE:
            return None
        return self.scale.ceiling


def sample_of(row: RolloutRow) -> Attempt:
    return Attempt(
        rollout_id=row.id,
        row=row.prompt_index,
        reward=row.reward,
        stop_reason=row.stop_reason,
        components=dict(row.components),
        failed_tools=frozenset(_failed_tools(row.trace)),
    )


def stopped_short(sample: Attempt) -> bool:
    """Returns True for an attempt that ended without an answer, such as at a limit."""
    return sample.stop_reason not in (None, StopReason.FINAL_ANSWER.value)


def practice_row(index: int, row: Mapping[str, Any]) -> PracticeRow:
    """Returns the parts of a row of a job's file, its tags in their order."""
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


def _failed_tools(trace: Mapping[str, Any]) -> list[str]:
    return [
        str(call.get("name"))
        for turn in trace.get("turns") or []
        for call in turn.get("tool_calls") or []
        if call.get("error") is not None
    ]
