"""Makes rows of the records of all sources, in a separate process."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, assert_never

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
from app.files.unread_parts import UNREAD_PART, unread_parts
from app.graders.choice import EMPTY_REFERENCE, empty_references
from app.jobs.supervised import MethodType
from app.kit.errors import EndpointRefused
from app.kit.fields import Json
from app.kit.hub import DataSetFault
from app.teaching.feedback.feedback import digest
from app.teaching.feedback.rows import people_of

MOST_FAULTS: Final = 100
"""Faulty rows after which no further one is read, where they refuse the curriculum."""
PREVIEW_BYTES: Final = 64 * 1024 * 1024
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
            columns = self._row_columns(record)
            return labelled_row(self._unfilled(record, _CONVERSATIONS[self._method]), columns)
        columns = self._table_columns(record)
        nested = {"tools", *(columns.get(role) for role in ("messages", "chosen", "rejected"))}
        return self._mapped(self._unfilled(record, nested), columns, line)

    def _unfilled(self, record: Json, names: Collection[str | None]) -> Json:
        return {
            name: without_nulls(value) if name in names else value for name, value in record.items()
        }

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


_CONVERSATIONS: Final[Mapping[MethodType, Collection[str]]] = {
    "reinforcement": ("messages", "tools"),
    "supervised": ("messages", "tools"),
    "dpo": ("input", "preferred_output", "non_preferred_output"),
}


def without_nulls(value: Any) -> Any:
    """Returns a nested value of a table without the nulls that stand for keys of other rows, and
    without objects that have nothing else.
    """
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: without_nulls(each) for name, each in value.items() if each is not None}
    return {name: each for name, each in kept.items() if each != {} or value[name] == {}}


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
    sources: tuple[CollectedSource, ...],
    options: CurriculumOptions,
    directory: Path,
    *,
    preview: bool = False,
) -> CollectedRows:
    """A `preview` ends after its first rows, a making of a curriculum at its limits."""
    found = CollectedRows()
    rows = _RowCollector(options, found, preview=preview)
    with (directory / ALL_ROWS).open("wb") as out:
        for each in sources:
            rows.add(each, out)
            if rows.ended:
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
    def __init__(self, options: CurriculumOptions, found: CollectedRows, *, preview: bool) -> None:
        self._options = options
        self._found = found
        self._preview = preview
        self._faults = 0
        self.ended = False
        """True when no further row is read."""
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
            self._take(table, line, row, out)

    def _is_full(self, source: int, limit: int | None) -> bool:
        if self.ended or limit is None or self._read[source] < limit:
            return self.ended
        message = f"Only the first {limit} rows are read: 'limit' says so."
        self._found.findings.add("info", "limited", message, source=source)
        return True

    def _take(self, each: TableFile, line: int, record: TableRecord, out: BinaryIO) -> None:
        """Writes a row, or ends at the first one that no curriculum has room for."""
        if isinstance(record, str):
            self._refuse(each.source, line, record)
            return
        content = _line(record)
        for fault in inspect_row(self._options.method, content, line)[1][:1]:
            self._refuse(each.source, line, f"{fault.pointer} {fault.message}".strip())
            return
        self._bytes += len(content)
        self.ended = self._has_no_room(each, line)
        if self.ended:
            return
        out.write(content)
        for pointer, why in unread_parts(self._options.method, record):
            self._found.findings.add(
                *("warning", UNREAD_PART, f"{pointer}: {why}."), source=each.source, line=line
            )
        if self._options.method == "reinforcement":
            self._warn(each.source, line, record)
        self._note(each, record, content)

    def _has_no_room(self, each: TableFile, line: int) -> bool:
        name, findings = each.file.filename[:64], self._found.findings
        if self._found.rows == MAX_ROWS:
            message = (
                f"Line {line} of '{name}' is one row too many: a curriculum may have at most "
                f"{MAX_ROWS} rows. Send 'limit' for fewer."
            )
            findings.add("error", "too_many_rows", message, source=each.source)
        elif self._bytes > MAX_FILE_BYTES:
            message = (
                f"The rows up to line {line} of '{name}' have more than {MAX_FILE_BYTES} bytes, "
                "the limit of a file. Send 'limit' for fewer rows."
            )
            findings.add("error", "too_many_bytes", message, source=each.source)
        elif self._preview and self._bytes > PREVIEW_BYTES:
            message = (
                f"The preview ends before line {line} of '{name}', for it reads {PREVIEW_BYTES} "
                "bytes of rows: counts and findings are those of the rows up to there."
            )
            findings.add("info", "preview_ended", message, source=each.source)
        else:
            return False
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
                self._faults += 1
                if self._faults == MOST_FAULTS:
                    message = f"No row after line {line} was read: {MOST_FAULTS} rows have faults."
                    self._found.findings.add("info", "reading_ended", message, source=source)
                    self.ended = True
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
