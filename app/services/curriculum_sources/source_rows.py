"""Makes rows of the records of one file, in a separate process.

Owns the choice between records that are rows of a job's file already and records of a table. Must
not know what happens to the rows.
"""

from dataclasses import dataclass, field
from typing import Final, assert_never

from app.domain.curricula.column_rows import labelled_row, row_of
from app.domain.curricula.columns import (
    ColumnMap,
    UnusableColumns,
    guess,
    joined_columns,
    label_columns,
    missing,
    missing_message,
    replaced_columns,
    unread_context,
)
from app.domain.curricula.reports import Findings, Severity, TableReading
from app.domain.curricula.sources import Columns
from app.domain.documents.json_object import Json
from app.domain.methods.supervised import MethodType
from app.tables.records import OpenedTable, SourceFile, TableRecord

_FORMULA: Final = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with records."""

    source: int
    file: SourceFile
    columns: Columns = field(default_factory=Columns)
    limit: int | None = None
    """Most rows of the whole source."""
    from_feedback: bool = False
    """True if its rows name people in them. Such rows stay as they are: a mapping of columns could
    drop the names.
    """


class SourceRows:
    """The rows of a file. Notes in `reading` how it is read."""

    def __init__(
        self, table: TableFile, method: MethodType, *, reading: TableReading, findings: Findings
    ) -> None:
        self._table = table
        self._method = method
        self._reading = reading
        self._findings = findings
        self._columns: ColumnMap | None = None
        self._labels: ColumnMap | None = None

    def note(self, opened: OpenedTable) -> None:
        reading = self._reading
        reading.format, reading.header = opened.format, list(opened.header)
        if opened.csv is None:
            return
        reading.delimiter = opened.csv.delimiter
        reading.encoding = opened.csv.encoding.name
        reading.encoding_guessed = opened.csv.encoding.guessed
        if reading.encoding_guessed:
            message = f"The text is not UTF-8; it is read as {reading.encoding}."
            self._findings.add("warning", "encoding_guessed", message, source=reading.source)

    def row(self, line: int, record: Json) -> TableRecord:
        """Returns the row of a record, or its fault. Raises `UnusableColumns` if the columns make
        no rows.
        """
        if self._table.from_feedback or _is_row(record, self._method, self._table.columns):
            return labelled_row(record, self._row_columns(record))
        return self._mapped(record, self._table_columns(record), line)

    def _row_columns(self, record: Json) -> ColumnMap:
        if self._labels is None:
            header = self._reading.header or list(record)
            self._labels = label_columns(header, self._table.columns, self._method)
            self._reading.columns = self._reading.columns or self._labels or None
        return self._labels

    def _table_columns(self, record: Json) -> ColumnMap:
        if self._columns is None:
            header = self._reading.header = self._reading.header or list(record)
            self._columns = guess(header, self._table.columns, self._method)
            self._reading.columns = self._columns
            lacking = missing(self._columns, self._method)
            if lacking:
                raise UnusableColumns(missing_message(header, lacking, self._columns))
            self._note_columns(header, self._columns)
        return self._columns

    def _note_columns(self, header: list[str], columns: ColumnMap) -> None:
        """Notes the columns whose texts a person would look for in the rows at another place."""
        prompt = columns.get("prompt", "")[:64]
        notes: tuple[tuple[Severity, str, list[str], str], ...] = (
            (
                *("info", "joined_columns", joined_columns(header, columns)),
                f"Prompts have the texts of '{prompt}' and, after a blank line, of",
            ),
            (
                *("warning", "unread_context", unread_context(header, columns)),
                f"Prompts are the texts of '{prompt}' alone, without those of",
            ),
            (
                *("warning", "replaced_column", replaced_columns(header, columns, self._method)),
                "Rows have a part of the same name, made of another column, instead of",
            ),
        )
        for severity, code, names, clause in notes:
            if names:
                shown = " and ".join(f"'{name[:64]}'" for name in names)
                self._findings.add(severity, code, f"{clause} {shown}.", source=self._table.source)

    def _mapped(self, record: Json, columns: ColumnMap, line: int) -> TableRecord:
        if any(isinstance(v, str) and v.startswith(_FORMULA) for v in record.values()):
            message = "Texts begin like formulas of spreadsheets; they stay the texts they are."
            source = self._table.source
            self._findings.add("info", "formula_like_text", message, source=source, line=line)
        try:
            return row_of(record, columns, self._method)
        except UnusableColumns as fault:
            return str(fault)


def _is_row(record: Json, method: MethodType, columns: Columns) -> bool:
    """Returns whether a record is a row of a job's file already. A column for the messages or the
    prompt says that it is not.
    """
    if columns.prompt is not None or columns.messages is not None:
        return False
    match method:
        case "reinforcement" | "supervised":
            return isinstance(record.get("messages"), list)
        case "dpo":
            return isinstance(record.get("input"), dict)
        case _:
            assert_never(method)
