"""Replies with a stream, whose source ends with its client: archives, and tables of rows."""

import io
import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar
from urllib.parse import quote

from anyio import to_thread
from fastapi import Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from app.kit.errors import RangeNotSatisfiable
from app.kit.schemas import FORMAT_TEXT, TableFormat


class ClosingResponse(StreamingResponse):
    """A stream whose source is closed at once when its client hangs up."""

    def __init__(self, content: AsyncGenerator[bytes, None], **options: Any) -> None:
        super().__init__(content, **options)
        self._source = content

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._source):
            await super().__call__(scope, receive, send)


MANIFEST_HEADER: Final = "x-manifest-sha256"
RangeHeader = Annotated[
    str | None,
    Header(
        alias="Range",
        description="One range of bytes, such as `bytes=1048576-`; others are ignored.",
    ),
]
IfRangeHeader = Annotated[
    str | None,
    Header(
        alias="If-Range",
        description="The `ETag` of an earlier answer; with another one `Range` is ignored.",
    ),
]
_RANGE: Final = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.ASCII)


class Download(Protocol):
    @property
    def filename(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def manifest_sha256(self) -> str: ...
    def read(self, start: int, stop: int) -> AsyncGenerator[bytes, None]: ...


def download_replies(media_type: str, description: str) -> dict[int | str, dict[str, Any]]:
    text = {"schema": {"type": "string"}}
    number = {"schema": {"type": "integer"}}
    headers = {
        "content-length": {"description": "Bytes of this reply.", **number},
        "content-disposition": {"description": "The file's name.", **text},
        "etag": {"description": "Identifies the content; for `If-Range`.", **text},
        MANIFEST_HEADER: {
            "description": "SHA-256 of the file `manifest.json` in the archive, which has the "
            "SHA-256 of every other file.",
            **text,
        },
    }
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {
        200: {"description": description, "headers": headers, "content": content},
        206: {
            "description": "The part that `Range` asked for.",
            "headers": {
                **headers,
                "content-range": {"description": "The part, and the whole length.", **text},
            },
            "content": content,
        },
    }


def download_reply(
    download: Download, media_type: str, *, range_: str | None, if_range: str | None
) -> StreamingResponse:
    """Returns the whole content or the requested range. Raises `RangeNotSatisfiable`."""
    size, etag = download.size, f'"{download.manifest_sha256}"'
    part = _part(range_, size) if if_range in (None, etag) else None
    start, stop = part or (0, size)
    headers = {
        "content-length": str(stop - start),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(download.filename, safe='')}",
        "etag": etag,
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        MANIFEST_HEADER: download.manifest_sha256,
    }
    if part is not None:
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    return ClosingResponse(
        download.read(start, stop),
        status_code=200 if part is None else 206,
        media_type=media_type,
        headers=headers,
    )


def _part(value: str | None, size: int) -> tuple[int, int] | None:
    found = None if value is None else _RANGE.fullmatch(value.strip())
    if found is None:
        return None
    first, last, suffix = found.groups()
    start, stop = max(size - int(suffix), 0) if suffix else int(first), size
    if last:
        if int(last) < start:
            return None
        stop = min(int(last) + 1, size)
    if start >= stop:
        raise RangeNotSatisfiable(size)
    return start, stop


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
    to_wire: Callable[[Row], BaseModel]
    columns: dict[str, ColumnType]


def table_replies(description: str) -> dict[int | str, dict[str, Any]]:
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
    """Reads the first batch before it returns. Reads and encodes each within a `turn`."""
    # The constructor for parquet loads a large library.
    make: Callable[[], _Lines | _Parquet] = _Lines
    if form == "parquet":
        make = partial(_Parquet, table.columns)
    encoder = await to_thread.run_sync(make)

    async def following() -> bytes | None:
        async with turn():
            rows = await anext(batches, None)
            if rows is None:
                return None
            # It ends before the turn does, also when the client hangs up: nothing can stop it.
            return await to_thread.run_sync(
                lambda: encoder.encode([table.to_wire(row) for row in rows])
            )

    async def pieces(piece: bytes | None) -> AsyncGenerator[bytes, None]:
        while piece is not None:
            if piece:
                yield piece
            piece = await following()
        async with turn():
            last = await to_thread.run_sync(encoder.end)
        yield last

    headers = {
        "content-disposition": f'attachment; filename="{filename}.{form}"',
        "x-content-type-options": "nosniff",
    }
    source = pieces(await following())
    return ClosingResponse(source, media_type=_MEDIA_TYPES[form], headers=headers)


class _Lines:
    def encode(self, rows: Sequence[BaseModel]) -> bytes:
        return b"".join(row.model_dump_json().encode() + b"\n" for row in rows)

    def end(self) -> bytes:
        return b""


class _Sink(io.RawIOBase):
    def __init__(self) -> None:
        super().__init__()
        self._pieces = bytearray()

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, data: Any) -> int:
        written = bytes(data)
        self._pieces += written
        return len(written)

    def taken(self) -> bytes:
        data, self._pieces = self._pieces, bytearray()
        return bytes(data)


class _Parquet:
    def __init__(self, columns: dict[str, ColumnType]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - 60 MB that only these replies need
        from pyarrow import parquet  # noqa: PLC0415 - as above

        types = {"text": pa.string(), "json": pa.string(), "integer": pa.int64()}
        types["number"] = pa.float64()
        self._columns = columns
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
        self._arrow = pa
        self._sink = _Sink()
        self._writer = parquet.ParquetWriter(self._sink, self._schema, compression="zstd")
        self._waiting: list[Any] = []

    def encode(self, rows: Sequence[BaseModel]) -> bytes:
        """Returns the row group that has become full; small ones would compress badly."""
        if rows:
            values = [self._values(row) for row in rows]
            self._waiting.append(self._arrow.RecordBatch.from_pylist(values, schema=self._schema))
        is_full = sum(batch.nbytes for batch in self._waiting) >= _ROW_GROUP_BYTES
        return self._group() if is_full else b""

    def end(self) -> bytes:
        last = self._group()
        self._writer.close()
        return last + self._sink.taken()

    def _group(self) -> bytes:
        if self._waiting:
            self._writer.write_table(self._arrow.Table.from_batches(self._waiting))
            self._waiting = []
        return self._sink.taken()

    def _values(self, row: BaseModel) -> dict[str, Any]:
        values = row.model_dump()
        return {
            name: json.dumps(values[name]) if kind == "json" else values[name]
            for name, kind in self._columns.items()
        }
