"""The contents of the sources of a curriculum, and the division of their rows. Pure data."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from app.curricula.columns import ColumnMap
from app.curricula.curricula import TableFormat
from app.kit.fields import Json

Severity = Literal["error", "warning", "info"]
_MOST_LINES: Final = 20
SHOWN_ROWS: Final = 5


@dataclass(slots=True)
class SourceFinding:
    """Something that is worth knowing about the rows of a source, or about all of them."""

    severity: Severity
    code: str
    message: str
    source: int | None = None
    """Position of the source in the request; `None` for all together."""
    rows: int = 0
    """Number of rows with it; 0 if it is not about rows."""
    lines: list[int] = field(default_factory=list)
    """The first lines or numbers of rows with it, from 1."""


@dataclass(slots=True)
class TableReading:
    """The reading of a file of a source."""

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
    """Commit of the data set that it is of."""


@dataclass(slots=True)
class Findings:
    """Findings by code and source, with the first lines of each."""

    found: dict[tuple[str, int | None], SourceFinding] = field(default_factory=dict)

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
        new = SourceFinding(severity, code, message, source)
        known = self.found.setdefault((code, source), new)
        if line is not None:
            known.rows += 1
            if len(known.lines) < _MOST_LINES:
                known.lines.append(line)

    @property
    def error(self) -> SourceFinding | None:
        return next((each for each in self.found.values() if each.severity == "error"), None)

    def listed(self) -> list[SourceFinding]:
        order = {"error": 0, "warning": 1, "info": 2}
        return sorted(self.found.values(), key=lambda each: order[each.severity])


@dataclass(slots=True)
class CollectedRows:
    """All sources together. The rows themselves are in two files."""

    readings: list[TableReading] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    first_rows: list[Json] = field(default_factory=list)
    rows: int = 0
    skipped_rows: int = 0
    training_rows: int = 0
    validation_rows: int = 0
    prompts: int = 0
    """Different prompts of the rows."""
    clusters: int = 0
    """Clusters of rows that are nearly the same."""
    alike_rows: int = 0
    """Rows of clusters that had to be divided."""
    tags: dict[str, list[int]] = field(default_factory=dict)
    """Training and held-out rows of each tag."""
    people: list[str] = field(default_factory=list)
    """People in rows that were built from feedback."""
    feedback_rows: Counter[str] = field(default_factory=Counter)
    """Rows that were built from each type of feedback."""

    def summary(self) -> dict[str, Any]:
        """Returns the counts as JSON."""
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
