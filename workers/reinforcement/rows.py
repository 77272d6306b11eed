"""The rows of a reinforcement job's file, checked once and read again when needed.

A file may hold half a gigabyte, so rows stay on disk: one pass checks each of them and records its
offset.
"""

import asyncio
import os
import weakref
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final, overload

from typing_extensions import override

from app.domain.data.dataset import MAX_ROW_BYTES, DatasetError, DatasetRow, each_row, parse_row
from app.domain.data.prompts import Prompts
from app.domain.errors import RunFailed
from app.domain.jobs.creation.row_needs import NO_NEEDS, RowFaults, RowNeeds, row_needs
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.tools.mcp_listings import functions_of
from workers.runs.data import JobFile


class RowFile(Sequence[DatasetRow]):
    """The rows of a checked JSONL file, parsed on access.

    The file stays open, so the run keeps it even if it is deleted meanwhile.
    """

    def __init__(
        self,
        path: Path,
        *,
        job_tools: AbstractSet[str] | None,
        max_rows: int,
        needs: RowNeeds = NO_NEEDS,
        shared_tools: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Reads the whole file once. Raises `DatasetError` at the first fault. `shared_tools` are
        offered on every row, after its own.
        """
        self._job_tools = job_tools
        self._shared_tools = shared_tools
        self.unmet: Final = RowFaults(needs)
        """Rows that lack a field which the graders need."""
        self.prompts: Final = Prompts()
        self._positions: list[tuple[int, int, int]] = []
        """Offset, length and line number (from 1) of each row."""
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        for row in each_row(self._lines(self._file), job_tools, max_rows):
            self.unmet.see(row.item, self._current[2])
            self.prompts.see(row.messages, self._current[2])
            self._positions.append(self._current)

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        number = offset = 0
        # A row that is too long is refused by its first piece; the rest is never read.
        while line := file.readline(MAX_ROW_BYTES + 2):
            number += 1
            self._current = (offset, len(line), number)
            offset += len(line)
            yield line

    @override
    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> DatasetRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[DatasetRow]: ...
    @override
    def __getitem__(self, index: int | slice) -> DatasetRow | list[DatasetRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        offset, length, number = self._positions[row]
        line = os.pread(self._file.fileno(), length, offset)
        parsed = parse_row(line, number, index=row, job_tools=self._job_tools)
        return replace(parsed, tools=[*parsed.tools, *self._shared_tools])


async def load_rows(file: JobFile, method: ReinforcementMethod) -> RowFile:
    """Checks every row. Raises `RunFailed` with the hosted error code."""
    try:
        rows = await asyncio.to_thread(
            RowFile,
            file.path,
            job_tools=method.job_tools,
            max_rows=file.max_rows,
            needs=row_needs(method, "method.reinforcement"),
            shared_tools=functions_of(server.listing for server in method.mcp_servers),
        )
    except DatasetError as error:
        raise file.invalid(error) from error
    file.check_count(len(rows))
    for fault in rows.unmet.found(file.label):
        raise RunFailed(fault.message, code=fault.code, param=fault.param)
    return rows
