"""Checks the JSONL syntax of an upload while its bytes pass: every line is a JSON object in UTF-8.

Must not know the content of rows, which the job checks. The whole grammar of a line is checked, but
no value is built (msgspec skips into a type without fields): a line of 8 MB takes 10 ms of one
thread and no memory, whereas building it takes half a second and hundreds of megabytes.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

import msgspec

from app.domain.data.chat_rows import is_blank
from app.domain.data.example_counts import MAX_TRAIN_EXAMPLES
from app.domain.errors import InvalidRequest

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_BLANK_LINES = 2 * MAX_TRAIN_EXAMPLES
"""Largest number of blank lines: a file of only line feeds would otherwise occupy a thread for
minutes.
"""
JSONL_PURPOSES = frozenset({"fine-tune", "batch", "evals"})
_MAX_ROWS = {"fine-tune": MAX_TRAIN_EXAMPLES}
_BOM = b"\xef\xbb\xbf"


class _AnyObject(msgspec.Struct):
    """A JSON object with any keys."""


_read = msgspec.json.Decoder(_AnyObject).decode


class JsonlCheck:
    """Checks a file block by block and stores the first fault. Keeps only one unfinished line in
    memory.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._number = 0
        self._rows = 0
        self._blank = 0
        self._too_many_for: dict[str, int] = {}
        self._fault: InvalidRequest | None = None

    def feed(self, block: bytes) -> None:
        """Checks a block, in about 1 ms per MiB."""
        if self._fault is not None:
            return
        *lines, self._pending = (self._pending + block).split(b"\n")
        try:
            for line in lines:
                self._line(line)
            if len(self._pending) > MAX_LINE_BYTES:
                raise _too_long(self._number + 1)
        except InvalidRequest as fault:
            self._fault, self._pending = fault, b""

    def end(self) -> None:
        """Checks the last line, which may lack its line feed."""
        if self._fault is None and self._pending:
            last, self._pending = self._pending, b""
            try:
                self._line(last)
            except InvalidRequest as fault:
                self._fault = fault
        if self._fault is None and self._rows == 0:
            self._fault = InvalidRequest("The file is empty.", param="file", code="empty_file")

    def check(self, purpose: str) -> None:
        """Raises `InvalidRequest` for the first fault so far, if such files are JSONL."""
        if purpose not in JSONL_PURPOSES:
            return
        limit, line = _MAX_ROWS.get(purpose), self._too_many_for.get(purpose)
        if line is not None:
            raise InvalidRequest(
                f"The file has more than {limit} examples. Line {line} is one too many.",
                param="file",
                code="too_many_examples",
            )
        if self._fault is not None:
            raise self._fault

    def _line(self, line: bytes) -> None:
        self._number += 1
        if is_blank(line):
            self._count_blank()
            return
        if len(line) > MAX_LINE_BYTES:
            raise _too_long(self._number)
        if not line.isascii():
            self._check_text(line)
            if self._number == 1:
                line = line.removeprefix(_BOM)
        try:
            _read(line)
        except msgspec.ValidationError:
            raise self._refused(line, "is not a dictionary") from None
        except (msgspec.DecodeError, RecursionError):
            raise self._refused(line, "is not valid JSON") from None
        self._rows += 1
        for purpose, limit in _MAX_ROWS.items():
            if self._rows == limit + 1:
                self._too_many_for[purpose] = self._number

    def _count_blank(self) -> None:
        self._blank += 1
        if self._blank > MAX_BLANK_LINES:
            raise InvalidRequest(
                f"The file has more than {MAX_BLANK_LINES} blank lines. Line {self._number} is one "
                "too many. Remove blank lines.",
                param="file",
                code="invalid_jsonl",
            )

    def _check_text(self, line: bytes) -> None:
        try:
            line.decode()
        except UnicodeDecodeError:
            raise self._refused(line, "is not valid UTF-8") from None

    def _refused(self, line: bytes, problem: str) -> InvalidRequest:
        shown = line[:40].decode("utf-8", errors="replace")
        return InvalidRequest(
            "Expected file to have JSONL format, where every line is a JSON dictionary. "
            f"Line {self._number} {problem} (HINT: line starts with: {shown!r}).",
            param="file",
            code="invalid_jsonl",
        )


def _too_long(number: int) -> InvalidRequest:
    return InvalidRequest(
        f"Line {number} is longer than {MAX_LINE_BYTES} bytes.", param="file", code="invalid_jsonl"
    )


async def checked_blocks(
    blocks: AsyncIterable[bytes], check: JsonlCheck, purpose: str | None
) -> AsyncIterator[bytes]:
    """Passes blocks on, each checked on a thread. Raises `InvalidRequest` at the first fault if the
    purpose is known and requires JSONL; otherwise everything passes and `check` stores the first
    fault.
    """
    async for block in blocks:
        if purpose is None or purpose in JSONL_PURPOSES:
            await asyncio.to_thread(check.feed, block)
            if purpose is not None:
                check.check(purpose)
        yield block
    check.end()
    if purpose is not None:
        check.check(purpose)
