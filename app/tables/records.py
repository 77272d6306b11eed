"""Opens a file of a source as records, whatever its format."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from app.domain.curricula.sources import Delimiter, TableFormat
from app.domain.data.chat_rows import DatasetError, is_blank, load_line
from app.domain.documents.json_object import Json
from app.tables.contents import Content, bytes_of
from app.tables.csv_rows import CsvForm, RaggedRecord, csv_form, csv_records
from app.tables.formats import format_of
from app.tables.json_lines import lines_of
from app.tables.parquet_records import parquet_header, parquet_records

TableRecord = Json | str
"""The values of a record by column, or the fault of one that cannot be read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, and the options of its reading."""

    path: Content
    filename: str
    format: TableFormat | None = None
    delimiter: Delimiter | None = None
    encoding: str | None = None
    has_header: bool = True


@dataclass(frozen=True, slots=True)
class OpenedTable:
    format: TableFormat
    records: Iterator[tuple[int, TableRecord]]
    """Line or number (from 1) of each record, and the record."""
    header: tuple[str, ...] = ()
    """Empty for JSON Lines, whose records name their own columns."""
    csv: CsvForm | None = None


def open_table(file: SourceFile) -> OpenedTable:
    """Raises `TableFault`, also while the records are read."""
    form = format_of(file.path, file.filename, file.format)
    match form:
        case "jsonl":
            return OpenedTable(form, _json_records(file.path))
        case "csv":
            opened = csv_form(
                file.path,
                encoding=file.encoding,
                delimiter=file.delimiter,
                has_header=file.has_header,
            )
            records = _whole(csv_records(file.path, opened, has_header=file.has_header), opened)
            return OpenedTable(form, records, opened.header, opened)
        case "parquet":
            header = parquet_header(file.path)
            return OpenedTable(form, _rows(parquet_records(file.path, header)), header)
        case _:
            assert_never(form)


def _json_records(path: Content) -> Iterator[tuple[int, TableRecord]]:
    with bytes_of(path) as file:
        for number, line in lines_of(file):
            if is_blank(line):
                continue
            try:
                yield number, load_line(line, number)
            except DatasetError as error:
                yield number, error.message


def _whole(
    records: Iterator[tuple[int, dict[str, str] | RaggedRecord]], form: CsvForm
) -> Iterator[tuple[int, TableRecord]]:
    for line, record in records:
        if isinstance(record, RaggedRecord):
            names = len(form.header)
            yield line, f"it has {record.values} values, and the header names {names} columns"
        else:
            yield line, dict[str, Any](record)


def _rows(records: Iterator[tuple[int, Json]]) -> Iterator[tuple[int, TableRecord]]:
    yield from records
