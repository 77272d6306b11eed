"""Reads a CSV file (RFC 4180) record by record, in bounded memory.

Owns the guess of the delimiter. Texts stay as they are written: a cell that begins with
`=` is text.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, TextIO

from app.domain.curricula.columns import MOST_COLUMNS
from app.domain.data.chat_rows import MAX_ROW_BYTES
from app.tables.contents import Content, text_of
from app.tables.encodings import Encoding, encoding_of
from app.tables.faults import TableFault

DELIMITERS: Final = (",", ";", "\t", "|", ":")
_SAMPLE_CHARACTERS: Final = 1 << 16
_SAMPLE_RECORDS: Final = 100


@dataclass(frozen=True, slots=True)
class CsvForm:
    encoding: Encoding
    delimiter: str
    header: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RaggedRecord:
    """A record with another number of values than the header."""

    values: int


def csv_form(
    path: Content, *, encoding: str | None, delimiter: str | None, has_header: bool
) -> CsvForm:
    """Returns how a file is read. Raises `TableFault`."""
    found = encoding_of(path, encoding)
    delimiter = delimiter or _delimiter(_sample(path, found.name))
    first = next((record for _, record in _records(path, found.name, delimiter)), None)
    if first is None:
        raise TableFault("empty_file", "the file is empty")
    if len(first) > MOST_COLUMNS:
        raise TableFault("too_many_columns", f"there are more than {MOST_COLUMNS} columns", line=1)
    numbered = tuple(f"column_{number}" for number in range(1, len(first) + 1))
    header = tuple(name.strip() for name in first) if has_header else numbered
    return CsvForm(found, delimiter, header)


def csv_records(
    path: Content, form: CsvForm, *, has_header: bool
) -> Iterator[tuple[int, dict[str, str] | RaggedRecord]]:
    """Yields line (from 1) and values by column of each record. Raises `TableFault`."""
    records = _records(path, form.encoding.name, form.delimiter)
    for line, record in islice(records, 1 if has_header else 0, None):
        if len(record) != len(form.header):
            yield line, RaggedRecord(len(record))
        else:
            yield line, dict(zip(form.header, record, strict=True))


def _records(path: Content, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the line at which each record begins, and its values; blank lines are skipped."""
    with text_of(path, encoding) as file:
        yield from _parsed(_lines(file), delimiter, encoding)


def _parsed(lines: Iterator[str], delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(MAX_ROW_BYTES)
    reader, begin = csv.reader(lines, delimiter=delimiter, strict=True), 1
    while True:
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise TableFault("invalid_csv", f"it is no CSV ({error})", line=begin) from None
        except UnicodeError as error:
            message = f"the text is not {encoding} ({error}): send 'encoding'"
            raise TableFault("wrong_encoding", message[:300], line=reader.line_num + 1) from None
        if record is None:
            return
        if record:
            yield begin, record
        begin = reader.line_num + 1


def _lines(file: TextIO) -> Iterator[str]:
    """Yields lines in pieces of bounded length, so that a file without any line feed is refused."""
    while line := file.readline(MAX_ROW_BYTES + 1):
        if len(line) > MAX_ROW_BYTES:
            raise TableFault("invalid_csv", f"a line is longer than {MAX_ROW_BYTES} characters")
        yield line


def _sample(path: Content, encoding: str) -> str:
    try:
        with text_of(path, encoding) as file:
            return file.read(_SAMPLE_CHARACTERS)
    except UnicodeError as error:
        message = f"the text is not {encoding} ({error}): send 'encoding'"
        raise TableFault("wrong_encoding", message[:300]) from None


def _delimiter(sample: str) -> str:
    """Returns the delimiter under which most records have as many values as the header, and more
    than one; the comma for a file of one column.
    """
    return max(DELIMITERS, key=lambda each: (*_fit(sample, each), -DELIMITERS.index(each)))


def _fit(sample: str, delimiter: str) -> tuple[float, int]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    widths = list[int]()
    with suppress(csv.Error):
        widths += [len(record) for record in islice(reader, _SAMPLE_RECORDS) if record]
    if not widths or widths[0] < 2:  # noqa: PLR2004 - one column has no delimiter
        return 0.0, 0
    if len(sample) == _SAMPLE_CHARACTERS and len(widths) > 1:
        widths.pop()  # the sample cuts the last record
    return Counter(widths)[widths[0]] / len(widths), widths[0]
