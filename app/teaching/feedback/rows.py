"""Makes the rows of a job from feedback, and finds what contradicts what. Pure."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, assert_never

from app.files.datasets import check_row
from app.files.division import MOST_PIECES, StratifiedRow, cluster_and_divide, pieces_of
from app.files.rows import DatasetError
from app.kit.fields import DescribedFields, Json
from app.teaching.feedback.feedback import FeedbackType, JudgedPrompt, Judgement


def is_usable(row: Json) -> bool:
    line = json.dumps(row, ensure_ascii=False).encode()
    try:
        check_row("supervised" if "messages" in row else "dpo", line, 1)
    except DatasetError:
        return False
    return True


BuildMethod = Literal["dpo", "supervised"]
DropReason = Literal[
    "duplicate",
    "outvoted",
    "tied",
    "no_opposite",
    "pair_limit",
    "preference_cycle",
    "correction_repeats_rejected",
    "correction_changes_nothing",
    "not_for_this_method",
    "invalid_row",
]
PAIRS_OF_PROMPT: Final = 16
"""Most pairs of one prompt that thumbs make: many answers must not crowd out other prompts."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    method: BuildMethod
    corrections_as_pairs: bool = False
    """For `dpo`: a correction is preferred to the answer that it corrects."""
    thumbs_up_as_rows: bool = False
    """For `supervised`: an answer with more thumbs up than down is learned."""


@dataclass(frozen=True, slots=True)
class BuiltRow:
    source: FeedbackType
    prompt: JudgedPrompt
    row: Json
    feedback_ids: tuple[str, ...]


@dataclass(slots=True)
class BuiltRows:
    rows: list[BuiltRow] = field(default_factory=list)
    dropped: dict[str, DropReason] = field(default_factory=dict)
    """The reason of each judgement that no row uses, by id."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: FeedbackType
    prompt: JudgedPrompt
    better: Json
    worse: Json | None
    judgements: tuple[Judgement, ...]
    nodes: tuple[str, str] = ("", "")
    """Digests of both answers of a pair."""


def build_rows(judgements: Sequence[Judgement], options: BuildOptions) -> BuiltRows:
    last, _ = latest(judgements)
    kept = {one.id for one in last}
    made = BuiltRows(dropped={one.id: "duplicate" for one in judgements if one.id not in kept})
    won = _by_votes([one for one in last if one.type == "thumbs"], made)
    corrections = _useful([one for one in last if one.type == "correction"], won, made)
    preferences = [one for one in last if one.is_preference]
    match options.method:
        case "dpo":
            candidates = [*_thumb_pairs(won, made), *map(_pair, preferences)]
            if options.corrections_as_pairs:
                candidates += map(_pair, corrections)
            else:
                _drop(made, corrections, "not_for_this_method")
            candidates = _without_circles(candidates, made)
        case "supervised":
            _drop(made, preferences, "not_for_this_method")
            candidates = [
                _Candidate(one.type, one.prompt, one.better or {}, None, (one,))
                for one in corrections
            ]
            if options.thumbs_up_as_rows:
                candidates += _liked(won, made)
            else:
                _drop(made, won, "not_for_this_method")
        case _:
            assert_never(options.method)
    _add(made, candidates)
    return made


def _by_votes(thumbs: Sequence[Judgement], made: BuiltRows) -> list[Judgement]:
    won = list[Judgement]()
    by_target = defaultdict[str, list[Judgement]](list)
    for one in thumbs:
        by_target[one.target].append(one)
    for rated in by_target.values():
        votes = Counter(one.rating for one in rated)
        if votes["up"] == votes["down"]:
            _drop(made, rated, "tied")
            continue
        most = "up" if votes["up"] > votes["down"] else "down"
        won += [one for one in rated if one.rating == most]
        _drop(made, [one for one in rated if one.rating != most], "outvoted")
    return won


def _useful(
    corrections: Sequence[Judgement], won: Sequence[Judgement], made: BuiltRows
) -> list[Judgement]:
    rejected = {(one.prompt.key, one.answer_key) for one in won if one.rating == "down"}
    useful = list[Judgement]()
    for one in corrections:
        if one.better_key == one.answer_key:
            made.dropped[one.id] = "correction_changes_nothing"
        elif (one.prompt.key, one.better_key) in rejected:
            made.dropped[one.id] = "correction_repeats_rejected"
        else:
            useful.append(one)
    return useful


def _thumb_pairs(won: Sequence[Judgement], made: BuiltRows) -> Iterator[_Candidate]:
    by_prompt = defaultdict[str, dict[str, list[Judgement]]](lambda: defaultdict(list))
    for one in won:
        by_prompt[one.prompt.key][one.answer_key].append(one)
    for answers in by_prompt.values():
        ranked = sorted(answers.values(), key=len, reverse=True)
        ups = [each for each in ranked if each[0].rating == "up"]
        downs = [each for each in ranked if each[0].rating == "down"]
        pairs = sorted(
            ((up, down) for up in ups for down in downs), key=lambda pair: -len(pair[0] + pair[1])
        )
        used = set[str]()
        for up, down in pairs[:PAIRS_OF_PROMPT]:
            used |= {one.id for one in up + down}
            yield _Candidate(
                *("thumbs", up[0].prompt, up[0].answer, down[0].answer, (*up, *down)),
                nodes=(up[0].answer_key, down[0].answer_key),
            )
        reason: DropReason = "pair_limit" if pairs else "no_opposite"
        left = [one for thumbs in ranked for one in thumbs if one.id not in used]
        _drop(made, left, reason)


def _liked(won: Sequence[Judgement], made: BuiltRows) -> Iterator[_Candidate]:
    by_target = defaultdict[str, list[Judgement]](list)
    for one in won:
        if one.rating == "up":
            by_target[one.target].append(one)
        else:
            made.dropped[one.id] = "not_for_this_method"
    for liked in by_target.values():
        yield _Candidate("thumbs", liked[0].prompt, liked[0].answer, None, tuple(liked))


def _pair(one: Judgement) -> _Candidate:
    return _Candidate(
        *(one.type, one.prompt, one.better or {}, one.answer, (one,)),
        nodes=(one.better_key, one.answer_key),
    )


def _without_circles(candidates: Sequence[_Candidate], made: BuiltRows) -> list[_Candidate]:
    """Returns the pairs that no circle of preferences, thumbs and corrections contradicts."""
    by_prompt = defaultdict[str, list[_Candidate]](list)
    for one in candidates:
        by_prompt[one.prompt.key].append(one)
    kept = list[_Candidate]()
    for pairs in by_prompt.values():
        part = cyclic_parts(one.nodes for one in pairs)
        for one in pairs:
            if part[one.nodes[0]] == part[one.nodes[1]]:
                _drop(made, one.judgements, "preference_cycle")
            else:
                kept.append(one)
    return kept


def _add(made: BuiltRows, candidates: Sequence[_Candidate]) -> None:
    merged = dict[tuple[str, ...], list[_Candidate]]()
    for one in candidates:
        nodes = one.nodes if one.worse is not None else (one.judgements[0].better_key, "")
        if one.worse is None and one.source == "thumbs":
            nodes = (one.judgements[0].answer_key, "")
        merged.setdefault((one.prompt.key, *nodes), []).append(one)
    for same_row in merged.values():
        judgements = {one.id: one for candidate in same_row for one in candidate.judgements}
        by_time = sorted(judgements.values(), key=lambda one: (one.created_at, one.id))
        row = {**_row(same_row[0]), "feedback": [_provenance(one) for one in by_time]}
        if not is_usable(row):
            _drop(made, by_time, "invalid_row")
            continue
        ids = tuple(one.id for one in by_time)
        made.rows.append(BuiltRow(same_row[0].source, same_row[0].prompt, row, ids))
    for built in made.rows:
        for used in built.feedback_ids:
            made.dropped.pop(used, None)


def _row(candidate: _Candidate) -> Json:
    prompt, tools = candidate.prompt, candidate.prompt.tools
    offered = {"tools": tools} if tools else {}
    if candidate.worse is None:
        return {"messages": [*prompt.messages, candidate.better], **offered}
    return {
        "input": {"messages": prompt.messages, **offered},
        "preferred_output": [candidate.better],
        "non_preferred_output": [candidate.worse],
    }


def _provenance(one: Judgement) -> Json:
    return {
        "id": one.id,
        "type": one.type,
        "author": one.author,
        "end_users": list(one.end_users),
        "created_at": one.created_at,
    }


def people_of(row: Json) -> set[str]:
    found = set[str]()
    for one in row.get("feedback") or ():
        found |= {*one["end_users"], *([] if one["author"] is None else [one["author"]])}
    return found


def _drop(made: BuiltRows, judgements: Sequence[Judgement], reason: DropReason) -> None:
    for one in judgements:
        made.dropped[one.id] = reason


FindingKind = Literal[
    "duplicate", "thumbs_both_ways", "correction_repeats_rejected", "preference_cycle"
]


@dataclass(frozen=True, slots=True)
class FeedbackFinding(DescribedFields):
    """Feedback that repeats or contradicts other feedback."""

    kind: FindingKind
    """Kind of the finding."""
    message: str
    """The finding in a sentence."""
    feedback_ids: tuple[str, ...]
    """Ids of the feedback, oldest first."""


def find(judgements: Sequence[Judgement]) -> list[FeedbackFinding]:
    last, repeated = latest(judgements)
    return [*repeated, *_both_ways(last), *_repeated_rejections(last), *_cycles(last)]


def latest(judgements: Sequence[Judgement]) -> tuple[list[Judgement], list[FeedbackFinding]]:
    """Judgements without an author are never the same author's."""
    by_author = defaultdict[tuple[str, str, str], list[Judgement]](list)
    for one in judgements:
        by_author[one.author or one.id, one.type, one.target].append(one)
    kept = {repeats[-1].id for repeats in by_author.values()}
    found = [
        FeedbackFinding(
            "duplicate",
            f"'{repeats[0].author}' judged the same answer {len(repeats)} times; the last one "
            "counts.",
            _ids(repeats),
        )
        for repeats in by_author.values()
        if len(repeats) > 1
    ]
    return [one for one in judgements if one.id in kept], found


def _both_ways(judgements: Sequence[Judgement]) -> Iterator[FeedbackFinding]:
    by_target = defaultdict[str, list[Judgement]](list)
    for one in judgements:
        if one.type == "thumbs":
            by_target[one.target].append(one)
    for thumbs in by_target.values():
        ups = sum(one.rating == "up" for one in thumbs)
        if 0 < ups < len(thumbs):
            message = f"An answer has {ups} thumbs up and {len(thumbs) - ups} thumbs down."
            yield FeedbackFinding("thumbs_both_ways", message, _ids(thumbs))


def _repeated_rejections(judgements: Sequence[Judgement]) -> Iterator[FeedbackFinding]:
    positions = {one.id: position for position, one in enumerate(judgements)}
    rejected = defaultdict[tuple[str, str], list[Judgement]](list)
    for one in judgements:
        if one.type == "thumbs" and one.rating == "down":
            rejected[one.prompt.key, one.answer_key].append(one)
    for one in judgements:
        if one.type == "correction":
            against = rejected.get((one.prompt.key, one.better_key))
            if against:
                yield FeedbackFinding(
                    "correction_repeats_rejected",
                    "A correction is an answer to the same prompt that has a thumbs down.",
                    _ids(sorted([*against, one], key=lambda each: positions[each.id])),
                )


def _cycles(judgements: Sequence[Judgement]) -> Iterator[FeedbackFinding]:
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
            yield FeedbackFinding("preference_cycle", message, _ids(members))


def cyclic_parts(edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Numbers the strongly connected part of each node, by Kosaraju's algorithm."""
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


@dataclass(frozen=True, slots=True)
class BuildRequest:
    options: BuildOptions
    validation_share: float
    created_after: int | None
    """Unix seconds; only later feedback is read."""
    name: str | None
    curriculum_id: str | None


MOST_FEEDBACK: Final = 20_000
"""Feedback that one build reads."""
MOST_BYTES: Final = 64 * 1024**2
"""Bytes of answers and prompts that one build reads: the API holds them in its memory."""
_SHOWN_IDS: Final = 20


@dataclass(frozen=True, slots=True)
class FeedbackBuild:
    id: str
    curriculum_id: str | None
    """`None` until the files are registered."""
    curriculum_version: int | None
    report: Json
    created_at: int = 0
    removed_people: frozenset[str] = frozenset()
    """People whose rows must go from the files."""
    file_ids: tuple[str, ...] = ()
    """Ids of the files, noted before the files exist; some may not exist any more."""


@dataclass(frozen=True, slots=True)
class Assembly:
    training: list[BuiltRow]
    validation: list[BuiltRow]
    report: Json

    @property
    def feedback_ids(self) -> list[str]:
        rows = [*self.training, *self.validation]
        return sorted({used for row in rows for used in row.feedback_ids})

    @property
    def people(self) -> list[str]:
        rows = [*self.training, *self.validation]
        return sorted({person for row in rows for person in people_of(row.row)})


def assemble(judgements: Sequence[Judgement], request: BuildRequest) -> Assembly:
    """Holds out at least as many rows as a job needs; none if that leaves too few."""
    made = build_rows(judgements, request.options)
    texts = {row.prompt.key: row.prompt.text for row in made.rows}
    rows = [StratifiedRow(row.prompt.key, ()) for row in made.rows]
    pieces = {key: pieces_of(text, most=MOST_PIECES) for key, text in texts.items()}
    clustered, division = cluster_and_divide(rows, pieces, share=request.validation_share)
    outside = division.held_out
    training = [row for row in made.rows if row.prompt.key not in outside]
    validation = [row for row in made.rows if row.prompt.key in outside]
    report = {
        "method": request.options.method,
        "training_rows": len(training),
        "validation_rows": len(validation),
        "prompts": len(texts),
        "prompt_groups": len(clustered.clusters),
        "alike_rows": sum(row.key in clustered.divided for row in rows),
        "sources": _sources(judgements, made),
        "dropped": _dropped(made),
        "findings": dict(sorted(Counter(finding.kind for finding in find(judgements)).items())),
    }
    return Assembly(training, validation, report)


def _sources(judgements: Sequence[Judgement], made: BuiltRows) -> Json:
    read = Counter(one.type for one in judgements)
    used = Counter(one.type for one in judgements if one.id not in made.dropped)
    rows = Counter(row.source for row in made.rows)
    return {
        kind: {"feedback": read[kind], "used": used[kind], "rows": rows[kind]}
        for kind in ("thumbs", "correction", "preference")
    }


def _dropped(made: BuiltRows) -> list[dict[str, Any]]:
    by_reason: dict[str, list[str]] = {}
    for feedback_id, reason in made.dropped.items():
        by_reason.setdefault(reason, []).append(feedback_id)
    return [
        {"reason": reason, "feedback": len(ids), "feedback_ids": ids[:_SHOWN_IDS]}
        for reason, ids in sorted(by_reason.items())
    ]
