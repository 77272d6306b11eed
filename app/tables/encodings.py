"""Finds the encoding of a text file: by its byte order mark, as UTF-8, else by its letters.

Promises: text that is valid UTF-8 is UTF-8; any other guess is marked as one.
"""

import codecs
from dataclasses import dataclass
from typing import Final

from app.tables.contents import Content, bytes_of
from app.tables.faults import TableFault

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
    """Raises `TableFault` for an unknown name, or bytes that no encoding fits."""
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
    """Returns the offset of the first byte that is not UTF-8."""
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
    """Returns the encoding that fits a sample around the first byte that is not UTF-8."""
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
