"""The rows of a supervised or preference file, checked once and read again when needed.

Must not know rendering.
"""

import asyncio
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

from typing_extensions import override

from app.domain.data.chat_rows import MAX_ROW_BYTES, DatasetError, is_blank, load_line
from app.domain.data.prompts import Prompts
from app.domain.data.row_formats import check_row, prompt_messages
from app.domain.methods.supervised import DpoMethod, OfflineMethodType, SupervisedMethod
from workers.runs.data import JobFile


@dataclass(frozen=True, slots=True)
class ExampleRow:
    line: int
    """Line number in its file, from 1."""
    item: dict[str, Any]


class ExampleRows(Sequence[ExampleRow]):
    """Reads rows from an open file, which the run keeps even if the file is deleted meanwhile."""

    def __init__(self, path: Path, method: OfflineMethodType, max_rows: int) -> None:
        """Reads the whole file once. Raises `DatasetError` at the first fault."""
        self.prompts: Final = Prompts()
        self._positions: list[tuple[int, int, int]] = []
        """Offset, length and line number of each row."""
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        number = offset = 0
        # A row that is too long is refused by its first piece; the rest is never read.
        while line := self._file.readline(MAX_ROW_BYTES + 2):
            number += 1
            if not is_blank(line):
                if len(self._positions) == max_rows:
                    raise DatasetError(number, "", f"the file has more than {max_rows} examples")
                item = check_row(method, line, number)
                self.prompts.see(prompt_messages(method, item), number)
                self._positions.append((offset, len(line), number))
            offset += len(line)

    @override
    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> ExampleRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[ExampleRow]: ...
    @override
    def __getitem__(self, index: int | slice) -> ExampleRow | list[ExampleRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        offset, length, number = self._positions[index]
        return ExampleRow(number, load_line(os.pread(self._file.fileno(), length, offset), number))


async def load_rows(file: JobFile, method: SupervisedMethod | DpoMethod) -> ExampleRows:
    """Checks every row. Raises `RunFailed` with the hosted error code."""
    try:
        rows = await asyncio.to_thread(ExampleRows, file.path, method.kind, file.max_rows)
    except DatasetError as error:
        raise file.invalid(error) from error
    file.check_count(len(rows))
    return rows
