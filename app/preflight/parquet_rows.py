"""Reads the texts of a Parquet file row by row, in bounded memory.

Owns the limits: a small file can claim a large content. A column is read as a dictionary of its
different values, so that one long value in many rows is there once. Must not know what rows mean.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from app.domain.data.chat_rows import MAX_ROW_BYTES

if TYPE_CHECKING:
    from pyarrow import parquet

MAX_CONTENT_BYTES: Final = 268_435_456
"""Limit of a file's content without compression, as the file says."""
_MAGIC: Final = b"PAR1"
_BATCH_ROWS: Final = 1_024
LIMITS: Final = MappingProxyType(
    {"thrift_string_size_limit": 16_777_216, "thrift_container_size_limit": 16_777_216}
)
"""Limits of what a file says of itself."""


class UnreadableParquet(ValueError):
    """A file that cannot be read. The text is for its author."""


def is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yields number (from 1) and named columns of each row. Raises `UnreadableParquet`."""
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that few files need
    from pyarrow import parquet  # noqa: PLC0415 - as above

    try:
        with parquet.ParquetFile(path, **LIMITS) as file:
            _check(file, columns)
        with parquet.ParquetFile(path, read_dictionary=list(columns), **LIMITS) as file:
            number = 0
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(columns)):
                for row in zip(*(_texts(batch.column(name)) for name in columns), strict=True):
                    number += 1
                    yield number, dict(zip(columns, row, strict=True))
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if isinstance(error, UnreadableParquet):
            raise
        raise UnreadableParquet("it is not a Parquet file that can be read") from error


def _check(file: "parquet.ParquetFile", columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in file.schema_arrow.names]
    if missing:
        raise UnreadableParquet(f"it has no column '{missing[0]}'")
    metadata = file.metadata
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    if sum(group.total_byte_size for group in groups) > MAX_CONTENT_BYTES:
        raise UnreadableParquet(f"its content is larger than {MAX_CONTENT_BYTES} bytes")


def _texts(column: Any) -> Iterator[str | None]:
    """Yields the values of a column, at most as long as a row may be, `None` for what is not
    text.
    """
    for value in column:
        text = value.as_py()
        if isinstance(text, str) and len(text) > MAX_ROW_BYTES:
            raise UnreadableParquet(f"a value is longer than {MAX_ROW_BYTES} characters")
        yield text if isinstance(text, str) else None
