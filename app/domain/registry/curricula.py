"""A registered curriculum: the data of jobs, and the result of its test. Pure data."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from app.domain.faults.issues import PreflightIssue
from app.domain.methods.supervised import MethodType

MAX_ROWS: Final = 100_000
MADE_FROM: Final = "made_from"
"""Key of a definition, beside those of its files: the sources that they were made from."""
CurriculumSplit = Literal["training", "validation"]
CURRICULUM_SPLITS: Final[tuple[CurriculumSplit, ...]] = ("training", "validation")


@dataclass(frozen=True, slots=True)
class SplitFile:
    """One file of a curriculum, as of the creation of the version."""

    file_id: str
    rows: int
    """Lines that are not blank, counted in the file itself."""
    bytes: int
    sha256: str
    """SHA-256 of the file's bytes, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class SplitReport:
    file_id: str
    rows: int
    faulty_rows: int
    duplicate_rows: int
    duplicate_lines: tuple[tuple[int, int], ...]
    """The first of them: (earlier line, repeated line)."""
    tools: dict[str, int]
    """Rows that offer each tool."""


@dataclass(frozen=True, slots=True)
class CurriculumReport:
    method: MethodType
    """The kind of job that the rows were read for."""
    splits: dict[CurriculumSplit, SplitReport]
    overlapping_rows: int
    """Validation rows whose messages are in the training file too."""
    overlapping_lines: tuple[tuple[int, int], ...]
    """The first of them: (training line, validation line)."""
    faults: tuple[PreflightIssue, ...]

    @property
    def passed(self) -> bool:
        return all(fault.severity != "error" for fault in self.faults)


@dataclass(frozen=True, slots=True)
class SplitInput:
    """One split of a request: a file id, or rows, or neither."""

    file_id: str | None
    rows: list[dict[str, Any]] | None
