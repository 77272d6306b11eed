"""Replies with rows as a file that is written while it is sent: JSON Lines or Parquet.

Promises: the rows of a batch are in memory only while a thread reads and encodes them; a file that
could not be written to its end is not a valid reply, because its stream breaks off.
"""

import io
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar, assert_never

from anyio import to_thread
from fastapi import Query
from pydantic import BaseModel
from typing_extensions import override

from app.api.schemas.common import FORMAT_TEXT, TableFormat
from app.web.closing_response import ClosingResponse

Row = TypeVar("Row")
FormatQuery = Annotated[TableFormat, Query(alias="format", description=FORMAT_TEXT)]
ColumnType = Literal["text", "integer", "number", "json"]
"""`json` is a text of JSON: its values differ in shape from row to row."""
_MEDIA_TYPES: Final[dict[TableFormat, str]] = {
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
_ROW_GROUP_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """A kind of row: its object on the wire, whose fields are the columns, by their types."""

    to_wire: Callable[[Row], BaseModel]
    columns: dict[str, ColumnType]


class _Encoder(Protocol):
    def encode(self, rows: Sequence[BaseModel]) -> bytes: ...
    def end(self) -> bytes: ...


def table_replies(description: str) -> dict[int | str, dict[str, Any]]:
    """Returns the documented reply of a route that answers with `table_reply`."""
    schema = {"type": "string", "format": "binary"}
    content = {media_type: {"schema": schema} for media_type in _MEDIA_TYPES.values()}
    return {200: {"description": description, "content": content}}


async def table_reply(
    batches: AsyncGenerator[list[Row], None],
    table: Table[Row],
    form: TableFormat,
    *,
    turn: Callable[[], AbstractAsyncContextManager[None]],
    filename: str,
) -> ClosingResponse:
    """Returns the reply once the first batch is read, whose errors are still errors of the call.
    Each batch is read and encoded within a `turn`.
    """
    encoder = await to_thread.run_sync(_encoder, form, table.columns)

    async def following() -> bytes | None:
        async with turn():
            rows = await anext(batches, None)
            if rows is None:
                return None
            # It ends before the turn does, also when the client hangs up: nothing can stop it.
            return await to_thread.run_sync(
                lambda: encoder.encode([table.to_wire(row) for row in rows])
            )

    async def last() -> bytes:
        async with turn():
            return await to_thread.run_sync(encoder.end)

    headers = {
        "content-disposition": f'attachment; filename="{filename}.{form}"',
        "x-content-type-options": "nosniff",
    }
    pieces = _pieces(await following(), following, last)
    return ClosingResponse(pieces, media_type=_MEDIA_TYPES[form], headers=headers)


async def _pieces(
    first: bytes | None,
    following: Callable[[], Awaitable[bytes | None]],
    last: Callable[[], Awaitable[bytes]],
) -> AsyncGenerator[bytes, None]:
    piece = first
    while piece is not None:
        if piece:
            yield piece
        piece = await following()
    yield await last()


def _encoder(form: TableFormat, columns: dict[str, ColumnType]) -> _Encoder:
    match form:
        case "jsonl":
            return _Lines()
        case "parquet":
            return _Parquet(columns)
        case _:
            assert_never(form)


class _Lines:
    def encode(self, rows: Sequence[BaseModel]) -> bytes:
        return b"".join(row.model_dump_json().encode() + b"\n" for row in rows)

    def end(self) -> bytes:
        return b""


@dataclass
class _Sink(io.RawIOBase):
    """Collects the bytes that the writer wrote since the last read."""

    pieces: list[bytes] = field(default_factory=list)

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, data: Any) -> int:
        self.pieces.append(bytes(data))
        return len(self.pieces[-1])

    def taken(self) -> bytes:
        data, self.pieces = b"".join(self.pieces), []
        return data


class _Parquet:
    def __init__(self, columns: dict[str, ColumnType]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - 60 MB that only these replies need
        from pyarrow import parquet  # noqa: PLC0415 - as above

        types = {"text": pa.string(), "json": pa.string(), "integer": pa.int64()}
        types["number"] = pa.float64()
        self._columns = columns
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
        self._to_batch = pa.RecordBatch.from_pylist
        self._sink = _Sink()
        self._writer = parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._waiting: list[Any] = []

    def encode(self, rows: Sequence[BaseModel]) -> bytes:
        """Returns the row group that has become full; small ones would compress badly."""
        if rows:
            values = [self._values(row) for row in rows]
            self._waiting.append(self._to_batch(values, schema=self._schema))
        if sum(batch.nbytes for batch in self._waiting) < _ROW_GROUP_BYTES:
            return b""
        return self._group()

    def end(self) -> bytes:
        last = self._group()
        self._writer.close()
        return last + self._sink.taken()

    def _group(self) -> bytes:
        import pyarrow as pa  # noqa: PLC0415 - is loaded already

        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
            self._waiting = []
        return self._sink.taken()

    def _values(self, row: BaseModel) -> dict[str, Any]:
        values = row.model_dump()
        return {
            name: json.dumps(values[name]) if kind == "json" else values[name]
            for name, kind in self._columns.items()
        }
