"""Counts right answers before and now, and says the result in plain words. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.rollouts.rollouts import PassCount

RIGHT: Final = 0.8
"""Least reward of a right answer: what is left of the recipes' scores for a wordy one."""
_WEAK: Final = 0.7
"""Share of right answers below which a topic is weak."""
_MOST_TOPICS: Final = 3
"""Weak topics that a sentence names at most."""


@dataclass(frozen=True, slots=True)
class RightCount:
    right: int
    rows: int


@dataclass(frozen=True, slots=True)
class Headway:
    """Right answers to the questions that are kept for tests."""

    before: RightCount
    now: RightCount
    is_preference: bool = False

    @property
    def sentence(self) -> str:
        verb = "prefers the better answer in" if self.is_preference else "answers"
        noun = "pairs" if self.is_preference else "questions right"
        what = f"{verb} {self.now.right} of {self.now.rows} {noun}"
        return f"It {what}, {_trend(self.before, self.now)}."


@dataclass(frozen=True, slots=True)
class TopicTally:
    topic: str
    tally: RightCount


def _trend(before: RightCount, now: RightCount) -> str:
    if before.rows != now.rows:
        return f"after {before.right} of {before.rows} before practice"
    if now.right > before.right:
        return f"up from {before.right}"
    if now.right < before.right:
        return f"down from {before.right}"
    return "as many as before practice"


def right_rows(counts: Sequence[PassCount], step: int) -> dict[int, bool]:
    """Returns whether each row is right at a step: more than half of its graded answers are."""
    return {
        each.prompt_index: 2 * each.passed > each.graded
        for each in counts
        if each.step == step and each.graded
    }


def tally(rows: Mapping[int, bool]) -> RightCount:
    return RightCount(sum(rows.values()), len(rows))


def share_tally(share: float, rows: int) -> RightCount:
    return RightCount(round(share * rows), rows)


def weak_topics(rows: Mapping[int, bool], topics: Mapping[int, Sequence[str]]) -> list[TopicTally]:
    """Returns the topics with too few right answers, the weakest first. A row counts for each of
    its topics.
    """
    of_topic = defaultdict[str, list[bool]](list)
    for row, is_right in rows.items():
        for topic in topics.get(row, ()):
            of_topic[topic].append(is_right)
    found = [
        TopicTally(topic, RightCount(sum(results), len(results)))
        for topic, results in of_topic.items()
        if sum(results) < _WEAK * len(results)
    ]
    return sorted(found, key=lambda each: (each.tally.right / each.tally.rows, each.topic))


def weak_sentence(weak: Sequence[TopicTally], headway: Headway) -> str:
    if not weak:
        left = headway.now.rows - headway.now.right
        return "" if left else "It gets every question of the test right."
    named = ", ".join(
        f"{each.topic} ({each.tally.right} of {each.tally.rows})" for each in weak[:_MOST_TOPICS]
    )
    return f"Still weak at {named}."
