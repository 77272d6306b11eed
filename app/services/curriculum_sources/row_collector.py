"""Makes the two files of a curriculum from the files of its sources.

One call with plain data in and out, so that it can run in a separate process. Rows pass one at a
time; only digests, tags and a sketch of each prompt are in memory. Must not know rows of the
database.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, assert_never

from app.domain.curricula.columns import UnusableColumns
from app.domain.curricula.reports import SHOWN_ROWS, CollectedRows, TableReading
from app.domain.curricula.sources import CurriculumOptions, HubSource
from app.domain.data.division import StratifiedRow
from app.domain.data.files import MAX_FILE_BYTES
from app.domain.data.row_difficulty import (
    UNREAD_DIFFICULTY,
    UNREAD_DIFFICULTY_MESSAGE,
    has_unread_difficulty,
)
from app.domain.data.row_formats import inspect_row
from app.domain.data.row_tags import tags_of
from app.domain.documents.json_object import Json
from app.domain.errors import EndpointRefused
from app.domain.feedback.judgements import digest
from app.domain.feedback.rows import people_of
from app.domain.registry.curricula import MAX_ROWS
from app.gateways.hub.data_sets import HubLocation, open_data_set
from app.gateways.hub.faults import DataSetFault
from app.services.curriculum_sources.rollout_rows import UNPAIRED, RolloutFiles, write_rows
from app.services.curriculum_sources.source_rows import SourceRows, TableFile
from app.services.curriculum_sources.split_files import (
    ALL_ROWS,
    prompt_key,
    prompt_text,
    write_splits,
)
from app.tables.faults import TableFault
from app.tables.records import SourceFile, TableRecord, open_table


@dataclass(frozen=True, slots=True)
class PlayedRollouts:
    """The rollouts of a job, from which a file with rows is made first."""

    source: int
    rollouts: RolloutFiles
    made: Path
    filename: str


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a data set, which are known once the hub was asked."""

    source: int
    wanted: HubSource
    location: HubLocation


CollectedSource = TableFile | PlayedRollouts | HubFiles


def collect_rows(
    sources: tuple[CollectedSource, ...], options: CurriculumOptions, directory: Path
) -> CollectedRows:
    """Writes the rows of all sources into `split_path`s of the directory, unless a finding is an
    error. Raises `OSError` for a file that is gone.
    """
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
    """Reads the rows of one file after the other, and writes each as a line."""

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
        """Raises `TableFault` and `UnusableColumns`."""
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
        """Returns whether a source with more to read has given as many rows as its limit."""
        if limit is None or self._read[source] < limit:
            return False
        message = f"Only the first {limit} rows are read: 'limit' says so."
        self._found.findings.add("info", "limited", message, source=source)
        return True

    def _take(self, each: TableFile, line: int, record: TableRecord, out: BinaryIO) -> bool:
        """Writes a row; returns false at the first one that no curriculum has room for."""
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
        if self._options.method == "reinforcement" and has_unread_difficulty(record):
            self._found.findings.add(
                *("warning", UNREAD_DIFFICULTY, UNREAD_DIFFICULTY_MESSAGE),
                source=each.source,
                line=line,
            )
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
