"""Finds feedback that repeats or contradicts other feedback. Pure.

Tool calls of two answers have different ids, so that only texts are found to be the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.feedback.judgements import Judgement

FindingKind = Literal[
    "duplicate", "thumbs_both_ways", "correction_repeats_rejected", "preference_cycle"
]


@dataclass(frozen=True, slots=True)
class FeedbackConflict:
    kind: FindingKind
    message: str
    feedback_ids: tuple[str, ...]
    """Oldest first."""


def find(judgements: Sequence[Judgement]) -> list[FeedbackConflict]:
    """Returns all findings of judgements that are sorted by time."""
    last, repeated = latest(judgements)
    return [
        *repeated,
        *_both_ways(last),
        *_repeated_rejections(last),
        *_cycles(last),
    ]


def latest(judgements: Sequence[Judgement]) -> tuple[list[Judgement], list[FeedbackConflict]]:
    """Returns the last judgement of each author about each target, and a finding for those with
    earlier ones. Judgements without an author are never the same author's.
    """
    by_author = defaultdict[tuple[str, str, str], list[Judgement]](list)
    for one in judgements:
        by_author[one.author or one.id, one.type, one.target].append(one)
    kept = {repeats[-1].id for repeats in by_author.values()}
    found = [
        FeedbackConflict(
            "duplicate",
            f"'{repeats[0].author}' judged the same answer {len(repeats)} times; the last one "
            "counts.",
            _ids(repeats),
        )
        for repeats in by_author.values()
        if len(repeats) > 1
    ]
    return [one for one in judgements if one.id in kept], found


def _both_ways(judgements: Sequence[Judgement]) -> Iterator[FeedbackConflict]:
    by_target = defaultdict[str, list[Judgement]](list)
    for one in judgements:
        if one.type == "thumbs":
            by_target[one.target].append(one)
    for thumbs in by_target.values():
        ups = sum(one.rating == "up" for one in thumbs)
        if 0 < ups < len(thumbs):
            message = f"An answer has {ups} thumbs up and {len(thumbs) - ups} thumbs down."
            yield FeedbackConflict("thumbs_both_ways", message, _ids(thumbs))


def _repeated_rejections(judgements: Sequence[Judgement]) -> Iterator[FeedbackConflict]:
    """Yields a finding for each correction that is the answer which somebody rejected."""
    positions = {one.id: position for position, one in enumerate(judgements)}
    rejected = defaultdict[tuple[str, str], list[Judgement]](list)
    for one in judgements:
        if one.type == "thumbs" and one.rating == "down":
            rejected[one.prompt.key, one.answer_key].append(one)
    for one in judgements:
        if one.type == "correction":
            against = rejected.get((one.prompt.key, one.better_key))
            if against:
                yield FeedbackConflict(
                    "correction_repeats_rejected",
                    "A correction is an answer to the same prompt that has a thumbs down.",
                    _ids(sorted([*against, one], key=lambda each: positions[each.id])),
                )


def _cycles(judgements: Sequence[Judgement]) -> Iterator[FeedbackConflict]:
    by_prompt = defaultdict[str, list[Judgement]](list)
    for one in judgements:
        if one.is_preference:
            by_prompt[one.prompt.key].append(one)
    for preferences in by_prompt.values():
        part_of = cyclic_parts((one.better_key, one.answer_key) for one in preferences)
        by_part = defaultdict[int, list[Judgement]](list)
        for one in preferences:
            part = part_of.get(one.better_key)
            if part is not None and part == part_of.get(one.answer_key):
                by_part[part].append(one)
        for members in by_part.values():
            message = "Preferences between answers to one prompt form a circle: none is the best."
            yield FeedbackConflict("preference_cycle", message, _ids(members))


def cyclic_parts(edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Returns for each node the number of its strongly connected part (Kosaraju's algorithm): an
    edge is in a circle exactly if both of its ends have the same number.
    """
    ahead = defaultdict[str, list[str]](list)
    behind = defaultdict[str, list[str]](list)
    for start, end in edges:
        ahead[start].append(end)
        behind[end].append(start)
    nodes = list(dict.fromkeys([*ahead, *behind]))
    finished: list[str] = []
    seen = set[str]()
    for node in nodes:
        finished += _visit(node, ahead, seen)
    parts: dict[str, int] = {}
    seen = set()
    for number, node in enumerate(reversed(finished)):
        for member in _visit(node, behind, seen):
            parts[member] = number
    return parts


def _visit(node: str, neighbours: dict[str, list[str]], seen: set[str]) -> list[str]:
    """Returns the nodes that are newly reached from `node`, in the order in which they are left."""
    if node in seen:
        return []
    seen.add(node)
    left, stack = list[str](), [(node, iter(neighbours.get(node, ())))]
    while stack:
        current, rest = stack[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            left.append(current)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(neighbours.get(following, ()))))
    return left


def _ids(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    return tuple(one.id for one in judgements)
