"""Makes rows of the records of all sources, in a separate process."""

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, assert_never

from app.curricula.columns import (
    ColumnMap,
    UnusableColumns,
    guess,
    joined_columns,
    label_columns,
    labelled_row,
    missing,
    missing_message,
    replaced_columns,
    row_of,
    unread_context,
)
from app.curricula.curricula import MAX_ROWS, Columns, CurriculumOptions, HubSource
from app.curricula.rollout_rows import UNPAIRED, RolloutFiles, write_rows
from app.curricula.split_files import (
    ALL_ROWS,
    SHOWN_ROWS,
    CollectedRows,
    Findings,
    Severity,
    TableReading,
    prompt_key,
    prompt_text,
    write_splits,
)
from app.files.datasets import inspect_row
from app.files.division import (
    UNREAD_DIFFICULTY,
    UNREAD_DIFFICULTY_MESSAGE,
    StratifiedRow,
    has_unread_difficulty,
    tags_of,
)
from app.files.files import MAX_FILE_BYTES
from app.files.hub_data_sets import HubLocation, open_data_set
from app.files.table_formats import OpenedTable, SourceFile, TableRecord, open_table
from app.files.table_texts import TableFault
from app.graders.choice import EMPTY_REFERENCE, empty_references
from app.jobs.supervised import MethodType
from app.kit.errors import EndpointRefused
from app.kit.fields import Json
from app.kit.hub import DataSetFault
from app.teaching.feedback.feedback import digest
from app.teaching.feedback.rows import people_of

_FORMULA: Final = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class TableFile:
    source: int
    file: SourceFile
    columns: Columns = field(default_factory=Columns)
    limit: int | None = None
    from_feedback: bool = False
    """True if its rows name people, which a mapping of columns could drop."""


class SourceRows:
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
    """Returns whether a record is a row already; a column for messages or prompt says no."""
    if columns.prompt is not None or columns.messages is not None:
        return False
    match method:
        case "reinforcement" | "supervised":
            return isinstance(record.get("messages"), list)
        case "dpo":
            return isinstance(record.get("input"), dict)
        case _:
            assert_never(method)


@dataclass(frozen=True, slots=True)
class PlayedRollouts:
    source: int
    rollouts: RolloutFiles
    made: Path
    filename: str


@dataclass(frozen=True, slots=True)
class HubFiles:
    source: int
    wanted: HubSource
    location: HubLocation


CollectedSource = TableFile | PlayedRollouts | HubFiles


def collect_rows(
    sources: tuple[CollectedSource, ...], options: CurriculumOptions, directory: Path
) -> CollectedRows:
    found = CollectedRows()
    rows = _RowCollector(options, found)
    with (directory / ALL_ROWS).open("wb") as out:
        for each in sources:
            rows.add(each, out)
            if not {"too_many_rows", "too_many_bytes"}.isdisjoint(
                code for code, _ in found.findings.found
            ):
                break
    found.people = sorted(rows.people)
    if found.rows == 0 and found.findings.error is None:
        reasons = (one.message for one in found.findings.listed() if one.severity == "warning")
        found.findings.add("error", "no_rows", " ".join(["The sources have no rows.", *reasons]))
    if rows.repeats:
        message = f"{rows.repeats} rows repeat an earlier row."
        found.findings.add("warning", "duplicate_rows", message)
    if found.rows:
        write_splits(rows.stratified, options, directory, found)
    return found


class _RowCollector:
    def __init__(self, options: CurriculumOptions, found: CollectedRows) -> None:
        self._options = options
        self._found = found
        self.stratified = list[StratifiedRow]()
        self.people = set[str]()
        self.repeats = 0
        self._read = Counter[int]()
        self._bytes = 0
        self._seen = set[bytes]()

    def add(self, each: CollectedSource, out: BinaryIO) -> None:
        match each:
            case TableFile():
                self._add_file(each, out)
            case PlayedRollouts():
                for code, row in write_rows(each.rollouts, self._options.method, each.made):
                    self._found.findings.add(
                        "warning", code, UNPAIRED[code], source=each.source, line=row
                    )
                file = SourceFile(each.made, each.filename, format="jsonl")
                self._add_file(TableFile(each.source, file), out)
            case HubFiles():
                self._add_data_set(each, out)
            case _:
                assert_never(each)

    def _add_data_set(self, each: HubFiles, out: BinaryIO) -> None:
        """Reads the files of a data set, no more of them than the limit needs."""
        wanted = each.wanted
        try:
            data_set = open_data_set(wanted, each.location)
            for name, content in data_set.files:
                if self._is_full(each.source, wanted.limit):
                    return
                # A guess of the encoding would fetch the whole file.
                file = SourceFile(content, name, encoding="utf-8")
                table = TableFile(each.source, file, wanted.columns, wanted.limit)
                self._add_file(table, out, revision=data_set.revision)
        except (DataSetFault, EndpointRefused) as fault:
            code = fault.code if isinstance(fault, DataSetFault) else "hub_refused"
            message = f"The data set '{wanted.data_set}' cannot be read: {fault}."
            self._found.findings.add("error", code, message, source=each.source)
        except OSError:
            message = f"The data set '{wanted.data_set}' cannot be read: its files are gone."
            self._found.findings.add("error", "hub_unavailable", message, source=each.source)

    def _add_file(self, table: TableFile, out: BinaryIO, *, revision: str | None = None) -> None:
        filename = table.file.filename
        reading = TableReading(table.source, filename, revision=revision)
        self._found.readings.append(reading)
        try:
            self._read_file(table, reading, out)
        except TableFault as fault:
            where = "" if fault.line is None else f"Line {fault.line}: "
            message = f"'{filename[:64]}' cannot be read: {where}{fault.message}."
            self._found.findings.add("error", fault.code, message, source=table.source)
        except UnusableColumns as fault:
            message = f"'{filename[:64]}': {fault}."
            self._found.findings.add("error", "unusable_columns", message, source=table.source)

    def _read_file(self, table: TableFile, reading: TableReading, out: BinaryIO) -> None:
        findings = self._found.findings
        rows = SourceRows(table, self._options.method, reading=reading, findings=findings)
        opened = open_table(table.file)
        rows.note(opened)
        for line, record in opened.records:
            if self._is_full(table.source, table.limit):
                return
            row = record if isinstance(record, str) else rows.row(line, record)
            reading.rows += 1
            self._read[table.source] += 1
            if not self._take(table, line, row, out):
                return

    def _is_full(self, source: int, limit: int | None) -> bool:
        if limit is None or self._read[source] < limit:
            return False
        message = f"Only the first {limit} rows are read: 'limit' says so."
        self._found.findings.add("info", "limited", message, source=source)
        return True

    def _take(self, each: TableFile, line: int, record: TableRecord, out: BinaryIO) -> bool:
        """Writes a row; returns false at the first one that no curriculum has room for."""
        if isinstance(record, str):
            self._refuse(each.source, line, record)
            return True
        content = _line(record)
        for fault in inspect_row(self._options.method, content, line)[1][:1]:
            self._refuse(each.source, line, f"{fault.pointer} {fault.message}".strip())
            return True
        if self._found.rows == MAX_ROWS:
            message = (
                f"Line {line} of '{each.file.filename[:64]}' is one row too many: a curriculum may "
                f"have at most {MAX_ROWS} rows. Send 'limit' for fewer."
            )
            self._found.findings.add("error", "too_many_rows", message, source=each.source)
            return False
        self._bytes += len(content)
        if self._bytes > MAX_FILE_BYTES:
            message = (
                f"The rows up to line {line} of '{each.file.filename[:64]}' have more than "
                f"{MAX_FILE_BYTES} bytes, the limit of a file. Send 'limit' for fewer rows."
            )
            self._found.findings.add("error", "too_many_bytes", message, source=each.source)
            return False
        out.write(content)
        if self._options.method == "reinforcement":
            self._warn(each.source, line, record)
        self._note(each, record, content)
        return True

    def _warn(self, source: int, line: int, row: Json) -> None:
        add = partial(self._found.findings.add, "warning", source=source, line=line)
        if has_unread_difficulty(row):
            add(UNREAD_DIFFICULTY, UNREAD_DIFFICULTY_MESSAGE)
        for key in empty_references(row):
            add(EMPTY_REFERENCE, f"A reference is null, NaN or blank, such as '{key}': it is none.")

    def _refuse(self, source: int, line: int, fault: str) -> None:
        message = f"Line {line}: {fault}."
        match self._options.invalid_rows:
            case "refuse":
                self._found.findings.add("error", "invalid_row", message, source=source, line=line)
            case "skip":
                self._found.skipped_rows += 1
                self._found.findings.add(
                    "warning", "skipped_row", message, source=source, line=line
                )
            case _:
                assert_never(self._options.invalid_rows)

    def _note(self, each: TableFile, row: Json, content: bytes) -> None:
        self._found.rows += 1
        if len(self._found.first_rows) < SHOWN_ROWS:
            self._found.first_rows.append(row)
        if each.from_feedback:
            self.people |= people_of(row)
            self._found.feedback_rows.update(one["type"] for one in row.get("feedback", ())[:1])
        self.stratified.append(
            StratifiedRow(
                prompt_key(prompt_text(self._options.method, row)), tuple(sorted(tags_of(row)))
            )
        )
        mark = digest(content.decode())[:24].encode()
        self.repeats += mark in self._seen
        self._seen.add(mark)


def _line(row: Json) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="surrogatepass") + b"\n"
