"""Reads CSV: encoding, delimiter, records."""

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from app.curricula.columns import MOST_COLUMNS
from app.files.hub_data_sets import HubFile
from app.files.rows import MAX_ROW_BYTES


class TableFault(ValueError):
    def __init__(self, code: str, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class HeldContent:
    content: bytes

    def open(self, _mode: str = "rb") -> BinaryIO:
        return io.BytesIO(self.content)


Content = Path | HubFile | HeldContent


def bytes_of(content: Content) -> BinaryIO:
    return content.open("rb")


def text_of(content: Content, encoding: str) -> TextIO:
    return io.TextIOWrapper(bytes_of(content), encoding=encoding, newline="")


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK: Final = 1 << 20
_SAMPLE: Final = 1 << 18
NAMED: Final = frozenset(
    {"ascii", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"}
    | {"utf-32-be", "cp437", "cp850", "cp852", "cp866", "cp932", "cp949", "cp950", "mac-roman"}
    | {"shift_jis", "euc_jp", "iso2022_jp", "gb2312", "gbk", "gb18030", "big5", "euc_kr"}
    | {"koi8-r", "koi8-u", "johab", "tis-620"}
    | {f"iso8859-{number}" for number in (*range(1, 12), *range(13, 17))}
    | {f"cp125{number}" for number in range(9)}
)
"""Names of encodings of text, as Python writes them: others of its codecs are no encodings."""
_GUESSED: Final = ("cp1252", "cp1250", "cp1251", "shift_jis", "gb18030", "big5", "euc_kr")
"""Encodings that a file without a mark is compared with, the most frequent ones of tables."""


@dataclass(frozen=True, slots=True)
class Encoding:
    name: str
    guessed: bool
    """True if another encoding fits as well as far as bytes show."""


def encoding_of(path: Content, sent: str | None) -> Encoding:
    with bytes_of(path) as file:
        head = file.read(4)
    mark = next((name for lead, name in _MARKS if head.startswith(lead)), None)
    if sent is not None:
        name = _known(sent)
        return Encoding("utf-8-sig" if name == "utf-8" else name, guessed=False)
    if mark is not None:
        return Encoding(mark, guessed=False)
    first = _first_fault(path)
    if first is None:
        return Encoding("utf-8", guessed=False)
    return Encoding(_by_letters(path, first), guessed=True)


def _known(sent: str) -> str:
    try:
        name = codecs.lookup(sent).name
    except (LookupError, ValueError, UnicodeError):
        name = ""
    if name not in NAMED:
        raise TableFault(
            "unknown_encoding",
            f"'{sent[:64]}' is no encoding of text that is read here; use for example utf-8, "
            "utf-16, iso-8859-1, windows-1252, shift_jis or gb18030",
        )
    return name


def _first_fault(path: Content) -> int | None:
    decoder, offset = codecs.getincrementaldecoder("utf-8")(), 0
    with bytes_of(path) as file:
        while block := file.read(_BLOCK):
            waiting = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                return offset - waiting + error.start
            offset += len(block)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return offset
    return None


def _by_letters(path: Content, first: int) -> str:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - its tables are for few files

    with bytes_of(path) as file:
        file.seek(max(0, first - _SAMPLE // 2))
        sample = file.read(_SAMPLE)
    best = from_bytes(sample, cp_isolation=list(_GUESSED), threshold=0.5).best()
    if best is None:
        raise TableFault(
            "unknown_encoding",
            f"byte {first} is not UTF-8, and no other encoding fits: send 'encoding'",
        )
    fitting = {best.encoding, *best.could_be_from_charset}
    return next((name for name in _GUESSED if name in fitting), best.encoding)


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
    values: int


def csv_form(
    path: Content, *, encoding: str | None, delimiter: str | None, has_header: bool
) -> CsvForm:
    found = encoding_of(path, encoding)
    if not delimiter:  # that under which most records are as wide as the header, else a comma
        sample = _sample(path, found.name)
        delimiter = max(DELIMITERS, key=lambda one: (*_fit(sample, one), -DELIMITERS.index(one)))
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
