"""Makes the two files of a curriculum from the files of its sources.

One call with plain data in and out, so that it can run in a separate process. Rows pass one at a
time; only digests, tags and a sketch of each prompt are in memory. Must not know rows of the
database.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, assert_never

from app.domain.curricula.columns import (
    ColumnMap,
    UnusableColumns,
    guess,
    missing,
    missing_message,
    row_of,
)
from app.domain.curricula.division import Labels
from app.domain.curricula.reports import SHOWN_ROWS, GatheredRows, TableReading
from app.domain.curricula.sources import Columns, HubSource, MakingOptions
from app.domain.data.files import MAX_FILE_BYTES
from app.domain.data.row_formats import inspect_row
from app.domain.data.row_tags import tags_of
from app.domain.documents.json_object import Json
from app.domain.errors import EndpointRefused
from app.domain.feedback.judgements import digest
from app.domain.feedback.rows import people_of
from app.domain.methods.supervised import MethodType
from app.domain.registry.curricula import MAX_ROWS
from app.gateways.hub.data_sets import DataSetFault, HubLocation, open_data_set
from app.preflight.tables.faults import TableFault
from app.preflight.tables.records import Record, SourceFile, open_table
from app.services.registry.curricula.parts import (
    ALL_ROWS,
    prompt_key,
    prompt_text,
    write_parts,
)
from app.services.registry.curricula.rollout_rows import RolloutFiles, write_rows

_FORMULA: Final = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class GatherFile:
    """A file of a source."""

    source: int
    file: SourceFile
    from_feedback: bool = False
    """True if its rows name people in them. Such rows stay as they are: a mapping of columns could
    drop the names.
    """
    rollouts: RolloutFiles | None = None
    """The rollouts that the rows are made from first, for a file that does not exist yet."""
    data_set: tuple[HubSource, HubLocation] | None = None
    """The data set whose files are read instead of `file`."""
    revision: str | None = None


def gather(files: tuple[GatherFile, ...], options: MakingOptions, directory: Path) -> GatheredRows:
    """Writes the rows of all files into `part_path`s of the directory, unless a finding is an
    error. Raises `OSError` for a file that is gone.
    """
    found = GatheredRows()
    rows = _Rows(options, found)
    with (directory / ALL_ROWS).open("wb") as out:
        for each in files:
            if each.rollouts is not None and isinstance(each.file.path, Path):
                write_rows(each.rollouts, options.method, each.file.path)
            if each.data_set is None:
                rows.read(each, out)
            else:
                rows.read_data_set(each, *each.data_set, out=out)
            if not {"too_many_rows", "too_many_bytes"}.isdisjoint(
                code for code, _ in found.findings.found
            ):
                break
    found.people = sorted(rows.people)
    if found.rows == 0 and found.findings.error is None:
        found.findings.add("error", "no_rows", "The sources have no rows.")
    if rows.repeats:
        message = f"{rows.repeats} rows repeat an earlier row."
        found.findings.add("warning", "duplicate_rows", message)
    if found.rows:
        write_parts(rows.labels, options, directory, found)
    return found


class _Rows:
    """Reads the rows of one file after the other, and writes each as a line."""

    def __init__(self, options: MakingOptions, found: GatheredRows) -> None:
        self._options = options
        self._found = found
        self.labels = list[Labels]()
        self.people = set[str]()
        self.repeats = 0
        self._bytes = 0
        self._seen = set[bytes]()

    def read_data_set(
        self, each: GatherFile, source: HubSource, location: HubLocation, *, out: BinaryIO
    ) -> None:
        """Reads the files of a data set, no more of them than the limit needs."""
        before = len(self._found.readings)
        try:
            data_set = open_data_set(source, location)
            for name, content in data_set.files:
                read = sum(one.rows for one in self._found.readings[before:])
                if source.limit is not None and read >= source.limit:
                    return
                left = None if source.limit is None else source.limit - read
                file = replace(each.file, path=content, filename=name, limit=left)
                self.read(replace(each, file=file, revision=data_set.revision), out)
        except (DataSetFault, EndpointRefused) as fault:
            code = fault.code if isinstance(fault, DataSetFault) else "hub_refused"
            message = f"The data set '{source.data_set}' cannot be read: {fault}."
            self._found.findings.add("error", code, message, source=each.source)
        except OSError:
            message = f"The data set '{source.data_set}' cannot be read: the hub broke off."
            self._found.findings.add("error", "hub_unavailable", message, source=each.source)

    def read(self, each: GatherFile, out: BinaryIO) -> None:
        reading = TableReading(each.source, each.file.filename, revision=each.revision)
        self._found.readings.append(reading)
        try:
            for line, record in self._records(each, reading):
                if not self._take(each, reading, line, record, out):
                    return
        except TableFault as fault:
            where = "" if fault.line is None else f"Line {fault.line}: "
            message = f"'{each.file.filename[:64]}' cannot be read. {where}{fault.message}."
            self._found.findings.add("error", fault.code, message, source=each.source)
        except UnusableColumns as fault:
            message = f"'{each.file.filename[:64]}': {fault}."
            self._found.findings.add("error", "unusable_columns", message, source=each.source)

    def _records(self, each: GatherFile, reading: TableReading) -> Iterator[tuple[int, Record]]:
        """Yields the records as rows. Raises `TableFault` and `UnusableColumns`."""
        file = each.file
        opened = open_table(file)
        reading.format, reading.header = opened.format, list(opened.header)
        if opened.csv is not None:
            reading.delimiter = opened.csv.delimiter
            reading.encoding = opened.csv.encoding.name
            reading.encoding_guessed = opened.csv.encoding.guessed
            if reading.encoding_guessed:
                message = f"The text is not UTF-8; it is read as {reading.encoding}."
                self._found.findings.add(
                    "warning", "encoding_guessed", message, source=reading.source
                )
        method, columns = self._options.method, None
        for line, record in opened.records:
            if file.limit is not None and reading.rows == file.limit:
                message = f"Only the first {file.limit} rows are read: 'limit' says so."
                self._found.findings.add("info", "limited", message, source=reading.source)
                return
            if isinstance(record, str):
                yield line, record
                continue
            if each.from_feedback or _is_row(record, method, file.columns):
                yield line, record
                continue
            if columns is None:
                columns = self._columns(record, file, reading)
            yield line, self._mapped(record, columns, reading, line)

    def _columns(self, record: Json, file: SourceFile, reading: TableReading) -> ColumnMap:
        reading.header = reading.header or list(record)
        reading.columns = guess(reading.header, file.columns, self._options.method)
        lacking = missing(reading.columns, self._options.method)
        if lacking:
            raise UnusableColumns(missing_message(reading.header, lacking))
        return reading.columns

    def _mapped(self, record: Json, columns: ColumnMap, reading: TableReading, line: int) -> Record:
        if any(isinstance(v, str) and v.startswith(_FORMULA) for v in record.values()):
            message = "Texts begin like formulas of spreadsheets; they stay the texts they are."
            self._found.findings.add(
                "info", "formula_like_text", message, source=reading.source, line=line
            )
        try:
            return row_of(record, columns, self._options.method)
        except UnusableColumns as fault:
            return str(fault)

    def _take(
        self, each: GatherFile, reading: TableReading, line: int, record: Record, out: BinaryIO
    ) -> bool:
        """Writes a row; returns false at the first one beyond the limit."""
        reading.rows += 1
        fault, content = (record, b"") if isinstance(record, str) else (None, _line(record))
        if fault is None:
            fault = self._fault_of(content, line)
        if fault is not None or isinstance(record, str):
            self._refuse(each.source, line, fault or "")
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
        self._note(each, record, content)
        return True

    def _fault_of(self, content: bytes, line: int) -> str | None:
        faults = inspect_row(self._options.method, content, line)[1]
        if not faults:
            return None
        return f"{faults[0].pointer} {faults[0].message}".strip()

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

    def _note(self, each: GatherFile, row: Json, content: bytes) -> None:
        self._found.rows += 1
        if len(self._found.first_rows) < SHOWN_ROWS:
            self._found.first_rows.append(row)
        if each.from_feedback:
            self.people |= people_of(row)
            self._found.feedback_rows.update(one["type"] for one in row.get("feedback", ())[:1])
        self.labels.append(
            Labels(prompt_key(prompt_text(self._options.method, row)), tuple(sorted(tags_of(row))))
        )
        mark = digest(content.decode())[:24].encode()
        self.repeats += mark in self._seen
        self._seen.add(mark)


def _is_row(record: Json, method: MethodType, columns: Columns) -> bool:
    """Returns whether a record is a row of a job's file as it is, and no columns are named."""
    if columns.prompt is not None or columns.messages is not None:
        return False
    match method:
        case "reinforcement" | "supervised":
            return isinstance(record.get("messages"), list)
        case "dpo":
            return isinstance(record.get("input"), dict)
        case _:
            assert_never(method)


def _line(row: Json) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="surrogatepass") + b"\n"
