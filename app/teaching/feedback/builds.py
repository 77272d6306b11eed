"""A call that builds files from feedback. Pure data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.files.division import MOST_PIECES, StratifiedRow, cluster_and_divide, pieces_of
from app.kit.fields import Json
from app.teaching.feedback.feedback import Judgement
from app.teaching.feedback.rows import (
    BuildOptions,
    BuiltRow,
    BuiltRows,
    build_rows,
    find,
    people_of,
)


@dataclass(frozen=True, slots=True)
class BuildRequest:
    options: BuildOptions
    validation_share: float
    created_after: int | None
    """Unix seconds; only later feedback is read."""
    name: str | None
    """Name of a new curriculum."""
    curriculum_id: str | None
    """Id of the curriculum that gets a new version."""


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
    """The rows of a build, divided, with the account of all feedback that it read."""

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
    """Returns the rows of judgements that are sorted by time. The held-out rows are about
    the `validation_share` of all, at least as many as a job needs; none if that leaves too few.
    """
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
