"""Recognises the format of a file by its first bytes and its name, and refuses archives by name."""

from pathlib import PurePosixPath
from typing import Final, assert_never

from app.domain.curricula.sources import TableFormat
from app.tables.contents import Content, bytes_of
from app.tables.faults import TableFault
from app.tables.parquet_records import PARQUET_MAGIC

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
    """Raises `TableFault` for an archive, and for a file of another format than was sent."""
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
