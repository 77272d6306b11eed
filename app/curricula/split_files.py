"""The rows of all sources: their description, and their division into two files."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, assert_never

from app.curricula.columns import ColumnMap
from app.curricula.curricula import AnySource, CurriculumOptions, CurriculumSplit, TableFormat
from app.files.division import MOST_PIECES, Pieces, StratifiedRow, cluster_and_divide, pieces_of
from app.files.rows import MIN_EXAMPLES
from app.jobs.supervised import MethodType
from app.kit.errors import refused_value
from app.kit.fields import DescribedModel, Json
from app.models.chat import text_of
from app.rollouts.rollouts import RolloutRow
from app.teaching.feedback.feedback import digest

Severity = Literal["error", "warning", "info"]
_MOST_LINES: Final = 20
SHOWN_ROWS: Final = 5


class CurriculumFinding(DescribedModel):
    """Something that is worth knowing about the rows."""

    severity: Severity
    """`error`: the curriculum would be refused."""
    code: str
    """The finding in a word that programs can compare."""
    message: str
    """The finding in a sentence; of a row, the first one."""
    source: int | None
    """Position of the source in the call; `null` for all together."""
    rows: int
    """Number of rows with it; 0 if it is not about rows."""
    lines: list[int]
    """The first 20 of these rows by their line in the file, from 1."""


@dataclass(slots=True)
class TableReading:
    source: int
    filename: str
    format: TableFormat | None = None
    encoding: str | None = None
    encoding_guessed: bool = False
    delimiter: str | None = None
    header: list[str] = field(default_factory=list)
    columns: ColumnMap | None = None
    """The mapping of columns; `None` for rows of a job's file of which no column is named."""
    rows: int = 0
    revision: str | None = None


@dataclass(slots=True)
class Findings:
    found: dict[tuple[str, int | None], CurriculumFinding] = field(default_factory=dict)

    def add(
        self,
        severity: Severity,
        code: str,
        message: str,
        *,
        source: int | None = None,
        line: int | None = None,
    ) -> None:
        """Counts a finding. The first message of a code and source is kept."""
        new = CurriculumFinding(
            severity=severity, code=code, message=message, source=source, rows=0, lines=[]
        )
        known = self.found.setdefault((code, source), new)
        if line is not None:
            known.rows += 1
            if len(known.lines) < _MOST_LINES:
                known.lines.append(line)

    @property
    def error(self) -> CurriculumFinding | None:
        return next((each for each in self.found.values() if each.severity == "error"), None)

    def listed(self) -> list[CurriculumFinding]:
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(self.found.values(), key=lambda each: order[each.severity])


@dataclass(slots=True)
class CollectedRows:
    readings: list[TableReading] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    first_rows: list[Json] = field(default_factory=list)
    rows: int = 0
    skipped_rows: int = 0
    training_rows: int = 0
    validation_rows: int = 0
    prompts: int = 0
    clusters: int = 0
    alike_rows: int = 0
    tags: dict[str, list[int]] = field(default_factory=dict)
    people: list[str] = field(default_factory=list)
    feedback_rows: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "skipped_rows": self.skipped_rows,
            "training_rows": self.training_rows,
            "validation_rows": self.validation_rows,
            "row_groups": self.clusters,
            "tags": {
                tag: {"training_rows": counts[0], "validation_rows": counts[1]}
                for tag, counts in sorted(self.tags.items())
            },
        }


def refuse_path(sent: str, param: str) -> None:
    if "/" in sent or "\\" in sent or sent.startswith(".") or ":" in sent:
        raise refused_value(
            param,
            "it is a path or an address, and the service reads no files of its machine: upload the "
            "file with POST /v1/files, and send its id",
        )


def description_of(source: AnySource) -> Json:
    sent: Json = source.model_dump(
        mode="json", exclude={"rows"}, exclude_none=True, exclude_defaults=True
    )
    return {"type": source.type, **sent}


def rollout_line(rollout: RolloutRow) -> bytes:
    kept = {
        "split": rollout.split,
        "prompt_index": rollout.prompt_index,
        "reward": rollout.reward,
        "messages": rollout.trace["messages"],
    }
    return json.dumps(kept, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


ALL_ROWS: Final = "rows.jsonl"
ALIKE: Final = (
    "{rows} rows differ in so little that whole clusters of near-duplicates could not be divided: "
    "they are divided by what differs in them, so both parts have rows of the same form, and the "
    "held-out part measures those forms with other words or numbers."
)
_PIECES: Final = 4_000_000
"""Pieces of all prompts together that are in memory: about 300 MB."""
_FEWEST_PIECES: Final = 32
_MOST_TAGS: Final = 1_000


def split_path(directory: Path, part: CurriculumSplit) -> Path:
    return directory / f"{part}.jsonl"


def prompt_text(method: MethodType, row: Json) -> str:
    match method:
        case "dpo":
            messages: list[Json] = row["input"]["messages"]
        case "supervised":
            messages = row["messages"][:-1] or row["messages"]
        case "reinforcement":
            messages = row["messages"]
        case _:
            assert_never(method)
    return "\n".join(text_of(message.get("content")) for message in messages)


def prompt_key(text: str) -> str:
    return digest(text)[:24]


def write_splits(
    rows: Sequence[StratifiedRow], options: CurriculumOptions, directory: Path, found: CollectedRows
) -> None:
    pieces = _pieces(rows, options, directory)
    split = options.split
    clustered, division = cluster_and_divide(
        rows, pieces, share=split.validation_share, seed=split.seed
    )
    found.prompts = len(pieces)
    found.clusters = len(clustered.clusters)
    found.alike_rows = sum(row.key in clustered.divided for row in rows)
    if found.alike_rows:
        found.findings.add("warning", "alike_rows", ALIKE.format(rows=found.alike_rows))
    if division.reason is not None:
        found.findings.add("warning", "not_divided", f"{division.reason}.".capitalize())
    held = Counter[bool]()
    with (
        (directory / ALL_ROWS).open("rb") as lines,
        split_path(directory, "training").open("wb") as training,
        split_path(directory, "validation").open("wb") as validation,
    ):
        for row, line in zip(rows, lines, strict=True):
            outside = row.key in division.held_out
            held[outside] += 1
            (validation if outside else training).write(line)
            for tag in row.tags:
                if tag in found.tags or len(found.tags) < _MOST_TAGS:
                    found.tags.setdefault(tag, [0, 0])[outside] += 1
    found.training_rows, found.validation_rows = held[False], held[True]
    if 0 < found.training_rows < MIN_EXAMPLES:
        message = f"A job needs {MIN_EXAMPLES} rows to train, and there are {found.training_rows}."
        found.findings.add("warning", "too_few_rows", message)


def _pieces(
    rows: Sequence[StratifiedRow], options: CurriculumOptions, directory: Path
) -> dict[str, Pieces]:
    different = len({row.key for row in rows})
    most = min(MOST_PIECES, max(_FEWEST_PIECES, _PIECES // max(1, different)))
    pieces = dict[str, Pieces]()
    with (directory / ALL_ROWS).open("rb") as lines:
        for row, line in zip(rows, lines, strict=True):
            if row.key not in pieces:
                pieces[row.key] = pieces_of(
                    prompt_text(options.method, json.loads(line)), most=most
                )
    return pieces
