"""Opens a file of a source as records, whatever its format."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final, assert_never

from app.curricula.curricula import Delimiter, TableFormat
from app.files.files import MAX_FILE_BYTES
from app.files.rows import MAX_ROW_BYTES, DatasetError, is_blank, load_line
from app.files.table_texts import (
    Content,
    CsvForm,
    RaggedRecord,
    TableFault,
    bytes_of,
    csv_form,
    csv_records,
)
from app.jobs.file_checks import lines_of
from app.kit.fields import Json
from app.kit.hub import DataSetFault
from app.kit.texts import excerpt

TableRecord = Json | str


@dataclass(frozen=True, slots=True)
class SourceFile:
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
    header: tuple[str, ...] = ()
    """Empty for JSON Lines, whose records name their own columns."""
    csv: CsvForm | None = None


def open_table(file: SourceFile) -> OpenedTable:
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
            return OpenedTable(form, parquet_records(file.path, header), header)
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


PARQUET_MAGIC: Final = b"PAR1"
MAX_CONTENT_BYTES: Final = 268_435_456
"""Limit of a row group's content without compression, as the file says."""
_LIMITS: Final = MappingProxyType(
    {"thrift_string_size_limit": 16_777_216, "thrift_container_size_limit": 16_777_216}
)
_BATCH_ROWS: Final = 256
_NESTED_BATCH_ROWS: Final = 4
"""Values in lists are decoded whole, and one long value can be there many times."""
_MAX_NESTED_VALUES: Final = 16_777_216
"""Values of a nested column in a row group: encoded repeats take no bytes of their size."""

_SHOWN_NAME: Final = 64


def is_parquet(path: Content) -> bool:
    with bytes_of(path) as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


def parquet_header(path: Content, *, most_bytes: int | None = None) -> tuple[str, ...]:
    from pyarrow import parquet, types  # noqa: PLC0415 - 60 MB that few files need

    with _as_faults(), bytes_of(path) as held, parquet.ParquetFile(held, **_LIMITS) as file:
        _check_size(file, most_bytes)
        return tuple(
            field.name
            for field in file.schema_arrow
            if not (types.is_binary(field.type) or types.is_large_binary(field.type))
        )


def _check_size(file: Any, most_bytes: int | None) -> None:
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    if most_bytes is not None and sum(group.total_byte_size for group in groups) > most_bytes:
        raise TableFault("too_large", f"its content is larger than {most_bytes} bytes")
    nested = [
        number
        for number in range(file.metadata.num_columns)
        if file.schema.column(number).max_repetition_level
    ]
    for group in groups:
        if group.total_byte_size > MAX_CONTENT_BYTES:
            message = f"a row group is larger than {MAX_CONTENT_BYTES} bytes without compression"
            raise TableFault("too_large", message)
        if any(group.column(number).num_values > _MAX_NESTED_VALUES for number in nested):
            message = f"a column of lists has more than {_MAX_NESTED_VALUES} values in a row group"
            raise TableFault("too_large", message)


def parquet_records(path: Content, header: Sequence[str]) -> Iterator[tuple[int, TableRecord]]:
    """Yields numbered records, and a text about a record that is too large to be a row. Raises
    `TableFault` when the rows up to there are larger than a file may be.
    """
    from pyarrow import parquet, types  # noqa: PLC0415 - 60 MB that few files need

    with _as_faults(), bytes_of(path) as held, parquet.ParquetFile(held, **_LIMITS) as file:
        schema = file.schema_arrow
        nested = any(types.is_nested(schema.field(name).type) for name in header)
        texts = [name for name in header if _is_text(schema.field(name).type)]
    size, number, read = _NESTED_BATCH_ROWS if nested else _BATCH_ROWS, 0, 0
    with (
        _as_faults(),
        bytes_of(path) as held,
        parquet.ParquetFile(held, read_dictionary=texts, **_LIMITS) as file,
    ):
        for batch in file.iter_batches(size, columns=list(header)):
            columns = [batch.column(name) for name in header]
            sizes = map(sum, zip(*map(_sizes, columns), strict=True))
            for at, row_bytes in enumerate(sizes):
                number += 1
                # A value that a dictionary has once is copied for each of its rows.
                if row_bytes > MAX_ROW_BYTES:
                    yield number, f"it is larger than {MAX_ROW_BYTES} bytes"
                    continue
                read += row_bytes
                if read > MAX_FILE_BYTES:
                    message = f"the rows up to this one are larger than {MAX_FILE_BYTES} bytes"
                    raise TableFault("too_large", message, line=number)
                named = zip(header, columns, strict=True)
                yield number, {name: _read(column[at], name, number) for name, column in named}


def _is_text(kind: Any) -> bool:
    from pyarrow import types  # noqa: PLC0415 - 60 MB that few files need

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _sizes(column: Any) -> list[int]:
    """Returns about how many bytes the value of each row takes when it is read."""
    from pyarrow import compute, types  # noqa: PLC0415 - 60 MB that few files need

    kind = column.type
    if types.is_dictionary(kind) and _is_text(kind.value_type):
        lengths = compute.take(compute.binary_length(column.dictionary), column.indices)
    elif _is_text(kind):
        lengths = compute.binary_length(column)
    else:
        return [column.slice(at, 1).nbytes for at in range(len(column))]
    return [length or 0 for length in lengths.to_pylist()]


def _read(scalar: Any, name: str, number: int) -> Any:
    from pyarrow import ArrowException, types  # noqa: PLC0415 - 60 MB that few files need

    try:
        return _value(scalar.as_py())
    except ArrowException:
        why = "a time zone or another type that this service does not read"
    except OverflowError:
        why = "a date, time or duration that is out of range"
    except ValueError:
        # Python has no nanoseconds, which are the usual unit of data frames.
        if types.is_timestamp(scalar.type) or types.is_time64(scalar.type):
            return str(scalar.cast("string").as_py()).replace(" ", "T", 1)
        why = "a time or duration in nanoseconds, which no text of it would keep"
    shown = excerpt(name, most=_SHOWN_NAME)
    raise TableFault("invalid_parquet", f"its column '{shown}' has {why}", line=number)


def _value(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float() | bytes():  # data frames write NaN for a missing number
            return value if isinstance(value, float) and not math.isnan(value) else None
        case dict():
            return {str(name): _value(each) for name, each in value.items()}
        case list() | tuple():
            return [_value(each) for each in value]
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


class _as_faults:  # noqa: N801 - read as a statement
    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        from pyarrow import ArrowException  # noqa: PLC0415 - 60 MB that few files need

        if isinstance(error, (TableFault, DataSetFault)):
            return
        if isinstance(error, MemoryError):
            raise TableFault("too_large", "the file needs too much memory to be read") from error
        if isinstance(error, (ArrowException, OSError, KeyError, ValueError, RecursionError)):
            raise TableFault("invalid_parquet", "it is no Parquet file") from error


_ARCHIVES: Final = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_TAR_AT: Final = 257
_TAR: Final = b"ustar"
_HEAD: Final = 4_096
_JSON_LINES_NAMES: Final = frozenset({".jsonl", ".ndjson"})
_CSV_NAMES: Final = frozenset({".csv", ".tsv", ".tab", ".txt", ".psv"})


def format_of(path: Content, filename: str, sent: TableFormat | None) -> TableFormat:
    with bytes_of(path) as file:
        head = file.read(_HEAD)
    kind = next((kind for lead, kind in _ARCHIVES if head.startswith(lead)), None)
    if kind is None and head[_TAR_AT:].startswith(_TAR):
        kind = "a tar archive"
    if kind is not None:
        raise TableFault("archive_refused", f"it is {kind}: unpack or export it, and send its file")
    if head.startswith(PARQUET_MAGIC):
        if sent not in (None, "parquet"):
            raise TableFault("wrong_format", f"its content is not of the format '{sent}'")
        return "parquet"
    match sent:
        case "jsonl" | "csv":
            return sent
        case "parquet":
            raise TableFault("wrong_format", "its content is not of the format 'parquet'")
        case None:
            return _by_text(head, filename)
        case _:
            assert_never(sent)


def _by_text(head: bytes, filename: str) -> TableFormat:
    text, suffix = (
        head.removeprefix(b"\xef\xbb\xbf").lstrip(),
        PurePosixPath(filename).suffix.lower(),
    )
    if suffix == ".json" and text.startswith(b"["):
        message = "it is a JSON array: write each of its objects as a line of its own (JSON Lines)"
        raise TableFault("wrong_format", message)
    if suffix in _JSON_LINES_NAMES and text:
        return "jsonl"
    if text.startswith(b"{") and suffix not in _CSV_NAMES:
        return "jsonl"
    return "csv"
