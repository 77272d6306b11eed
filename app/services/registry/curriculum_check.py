"""Reads the files of a curriculum as a job would: every fault, repeats, overlap.

One call with plain data in and out, so that it can run in a separate process. Must not know rows of
the database.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.domain.data.chat_rows import is_blank
from app.domain.data.example_counts import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, MIN_EXAMPLES
from app.domain.data.prompts import OVERLAPPING_ROWS, Overlap
from app.domain.data.row_formats import inspect_row
from app.domain.faults.issues import PreflightIssue
from app.domain.methods.supervised import MethodType
from app.domain.registry.curricula import CurriculumReport, CurriculumSplit, SplitReport
from app.preflight.files import FileRules, ReadFile, read_file
from app.preflight.rows import row_reader
from app.tables.json_lines import lines_of

MAX_FAULTS: Final = 100
_MAX_ROWS: Final[dict[CurriculumSplit, int]] = {
    "training": MAX_TRAIN_EXAMPLES,
    "validation": MAX_VALID_EXAMPLES,
}


@dataclass(frozen=True, slots=True)
class SplitPath:
    split: CurriculumSplit
    file_id: str
    path: Path


def check_curriculum(
    paths: tuple[SplitPath, ...], job_tools: frozenset[str] | None, method: MethodType | None
) -> CurriculumReport:
    """Checks the files. Raises `OSError` for a missing file. `job_tools` as in `check_row`; `None`
    allows any. Without a `method`, the first row shows it.
    """
    method = method or recognised_method(paths[0].path)
    files = {
        part.split: read_file(part.path, _rules(part.split, method, job_tools)) for part in paths
    }
    overlap = _overlap(files)
    return CurriculumReport(
        method=method,
        splits={part.split: _report(part.file_id, files[part.split]) for part in paths},
        overlapping_rows=overlap.rows,
        overlapping_lines=overlap.lines,
        faults=tuple(_faults(files, overlap)),
    )


def recognised_method(path: Path) -> MethodType:
    """Returns the kind of job that the first row is for, `reinforcement` if it fits no other."""
    with path.open("rb") as file:
        first = next((line for _, line in lines_of(file) if not is_blank(line)), b"")
    methods: tuple[MethodType, ...] = ("dpo", "reinforcement", "supervised")
    for method in methods:
        if not inspect_row(method, first, 1)[1]:
            return method
    return "dpo" if b'"preferred_output"' in first else "reinforcement"


def _rules(
    split: CurriculumSplit, method: MethodType, job_tools: frozenset[str] | None
) -> FileRules:
    return FileRules(
        param=f"{split}_file",
        code=f"invalid_{split}_file",
        read_row=row_reader(method, job_tools),
        min_rows=MIN_EXAMPLES,
        max_rows=_MAX_ROWS[split],
    )


def _report(file_id: str, file: ReadFile) -> SplitReport:
    return SplitReport(
        file_id=file_id,
        rows=file.rows,
        faulty_rows=file.faulty_rows,
        duplicate_rows=file.prompts.repeats,
        duplicate_lines=tuple(file.prompts.repeated_lines),
        tools=dict(sorted(file.tools.items())),
    )


def _overlap(files: dict[CurriculumSplit, ReadFile]) -> Overlap:
    if len(files) < 2:  # noqa: PLR2004 - two files overlap
        return Overlap(0, ())
    return files["training"].prompts.overlap(files["validation"].prompts)


def _faults(files: dict[CurriculumSplit, ReadFile], overlap: Overlap) -> list[PreflightIssue]:
    """Returns the faults of rows, at most 100 over both files, then the faults of whole files."""
    found = [issue for file in files.values() for issue in file.issues]
    in_rows = [issue for issue in found if issue.line is not None][:MAX_FAULTS]
    of_files = [issue for issue in found if issue.line is None]
    if overlap.rows:
        of_files.append(
            PreflightIssue("warning", OVERLAPPING_ROWS, overlap.warning, "validation_file")
        )
    return [*in_rows, *of_files]
