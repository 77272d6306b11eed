"""Reads a Parquet file record by record, lists and structures included, in bounded memory.

Owns the limits: a small file can claim a large content. Columns of bytes, such as images, are left
out. Must not know what the records mean.
"""

from collections.abc import Iterator
from datetime import date, time
from typing import Any, Final

from app.domain.data.chat_rows import MAX_ROW_BYTES
from app.gateways.hub.faults import DataSetFault
from app.preflight.parquet_rows import LIMITS, MAX_CONTENT_BYTES
from app.preflight.tables.contents import Content, bytes_of
from app.preflight.tables.faults import TableFault

_BATCH_ROWS: Final = 256
_NESTED_BATCH_ROWS: Final = 4
"""Values in lists are decoded whole, and one long value can be there many times."""
_MAX_NESTED_VALUES: Final = 16_777_216
"""Values of a nested column in a row group: encoded repeats take no bytes of their size."""


def parquet_header(path: Content) -> tuple[str, ...]:
    """Returns the names of the columns that are read. Raises `TableFault`."""
    from pyarrow import parquet, types  # noqa: PLC0415 - 60 MB that few files need

    with _as_faults(), bytes_of(path) as held, parquet.ParquetFile(held, **LIMITS) as file:
        _check_size(file)
        return tuple(
            field.name
            for field in file.schema_arrow
            if not (types.is_binary(field.type) or types.is_large_binary(field.type))
        )


def _check_size(file: Any) -> None:
    nested = [
        number
        for number in range(file.metadata.num_columns)
        if file.schema.column(number).max_repetition_level
    ]
    for group in (file.metadata.row_group(each) for each in range(file.metadata.num_row_groups)):
        if group.total_byte_size > MAX_CONTENT_BYTES:
            message = f"a row group is larger than {MAX_CONTENT_BYTES} bytes without compression"
            raise TableFault("too_large", message)
        if any(group.column(number).num_values > _MAX_NESTED_VALUES for number in nested):
            message = f"a column of lists has more than {_MAX_NESTED_VALUES} values in a row group"
            raise TableFault("too_large", message)


def parquet_records(path: Content, header: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields number (from 1) and values by column of each record. Raises `TableFault`."""
    from pyarrow import parquet, types  # noqa: PLC0415 - 60 MB that few files need

    with _as_faults(), bytes_of(path) as held, parquet.ParquetFile(held, **LIMITS) as file:
        schema = file.schema_arrow
        nested = any(types.is_nested(schema.field(name).type) for name in header)
        texts = [name for name in header if types.is_string(schema.field(name).type)]
    size, number = _NESTED_BATCH_ROWS if nested else _BATCH_ROWS, 0
    with (
        _as_faults(),
        bytes_of(path) as held,
        parquet.ParquetFile(held, read_dictionary=texts, **LIMITS) as file,
    ):
        for batch in file.iter_batches(size, columns=list(header)):
            columns = [batch.column(name) for name in header]
            for at in range(batch.num_rows):
                number += 1
                values = [_value(column[at].as_py(), number) for column in columns]
                yield number, dict(zip(header, values, strict=True))


def _value(value: Any, number: int) -> Any:
    """Returns a value as JSON: dates and decimals as texts, and bytes left out."""
    match value:
        case str() if len(value) > MAX_ROW_BYTES:
            message = f"a value is longer than {MAX_ROW_BYTES} characters"
            raise TableFault("too_large", message, line=number)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return None
        case dict():
            return {str(name): _value(each, number) for name, each in value.items()}
        case list() | tuple():
            return [_value(each, number) for each in value]
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


class _as_faults:  # noqa: N801 - read as a statement
    """Raises `TableFault` for what the library raises about a file."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        from pyarrow import ArrowException  # noqa: PLC0415 - 60 MB that few files need

        if isinstance(error, (TableFault, DataSetFault)):
            return
        if isinstance(error, MemoryError):
            raise TableFault("too_large", "the file needs too much memory to be read") from error
        if isinstance(error, OverflowError):
            message = "a date, time or duration in it is out of range"
            raise TableFault("invalid_parquet", message) from error
        if isinstance(error, (ArrowException, OSError, KeyError, ValueError, RecursionError)):
            raise TableFault("invalid_parquet", "it is no Parquet file") from error
