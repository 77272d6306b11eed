"""Reads the first rows of a file for a person to look at. Pure.

Promises that a large file costs no more than a small one: only its first bytes are looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from app.domain.data.chat_rows import is_blank

HEAD_BYTES: Final = 256 * 1024
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class HeadRow:
    number: int
    """Line of the file, from 1."""
    text: str
    is_cut: bool
    """True for a row that is longer than the bytes that were read."""


@dataclass(frozen=True, slots=True)
class FileHead:
    """The first rows of a file; none of a file that is not text."""

    rows: Sequence[HeadRow]
    is_text: bool
    has_more: bool
    """True if further lines follow."""


def file_head(head: bytes, count: int, *, is_all: bool) -> FileHead:
    """Returns the first rows. `is_all` says that `head` is the whole file."""
    whole = head if is_all else head.rpartition(b"\n")[0] or head
    try:
        _decoded(whole, is_cut=whole is head and not is_all)
    except UnicodeDecodeError:
        return FileHead((), is_text=False, has_more=False)
    if b"\x00" in head:
        return FileHead((), is_text=False, has_more=False)
    lines = head.removeprefix(_BOM).split(b"\n")
    found = [(number, line) for number, line in enumerate(lines, 1) if not is_blank(line)]
    rows = [
        HeadRow(number, line.decode(errors="replace"), is_cut=number == len(lines) and not is_all)
        for number, line in islice(found, count)
    ]
    return FileHead(rows, is_text=True, has_more=len(found) > count or not is_all)


def _decoded(head: bytes, *, is_cut: bool) -> str:
    """Decodes UTF-8. A text that was cut may end within a character of up to four bytes."""
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.start > len(head) - 4:
            return head[: error.start].decode()
        raise
