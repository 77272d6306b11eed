"""A run's rows: the job's files checked row by row, and refused with line and reason.

A file may hold half a gigabyte, so rows stay on disk: a pass checks each of them and notes where it
stands, and what a step needs is read again.
"""

import asyncio
import os
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, overload

from typing_extensions import override

from app.domain.data.dataset import MAX_ROW_BYTES, DatasetError, DatasetRow, each_row, parse_row
from app.domain.errors import NotFound, RunFailed
from app.domain.jobs.jobs import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, MIN_EXAMPLES
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.supervised.examples import Examples
from workers.supervised.rows import TextRows


class RowFile(Sequence[DatasetRow]):
    """The rows of a checked JSONL file, parsed when asked for.

    The file stays open: deleting it during a run takes nothing away from the run.
    """

    def __init__(self, path: Path, *, job_tools: set[str], max_rows: int) -> None:
        """Reads the whole file once. Raises `DatasetError` at the first fault."""
        self._job_tools = job_tools
        self._places: list[tuple[int, int, int]] = []
        """Offset, length and line number (from 1) of each row."""
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        for _ in each_row(self._lines(self._file), job_tools, max_rows):
            self._places.append(self._at)

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        number = offset = 0
        # A row that is too long is refused by its first piece; the rest is never read.
        while line := file.readline(MAX_ROW_BYTES + 2):
            number += 1
            self._at = (offset, len(line), number)
            offset += len(line)
            yield line

    @override
    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> DatasetRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[DatasetRow]: ...
    @override
    def __getitem__(self, index: int | slice) -> DatasetRow | list[DatasetRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        offset, length, number = self._places[place]
        line = os.pread(self._file.fileno(), length, offset)
        return parse_row(line, number, index=place, job_tools=self._job_tools)


async def load_rows(context: RunContext, *, training: bool) -> RowFile:
    """Rows of the training or validation file. Raises `RunFailed` with the hosted error code."""
    label, limit = _label_and_limit(training=training)
    path = await _path(context, training=training)
    tool_names = {tool.name for tool in context.reinforcement.tools}
    try:
        rows = await asyncio.to_thread(RowFile, path, job_tools=tool_names, max_rows=limit)
    except DatasetError as error:
        raise _invalid(label, error) from error
    _check_count(label, len(rows))
    return rows


async def load_text_rows(
    context: RunContext, method: Literal["supervised", "dpo"], *, training: bool
) -> TextRows:
    """The same for a file of given text."""
    label, limit = _label_and_limit(training=training)
    path = await _path(context, training=training)
    try:
        rows = await asyncio.to_thread(TextRows, path, method, limit)
    except DatasetError as error:
        raise _invalid(label, error) from error
    _check_count(label, len(rows))
    return rows


async def checked_examples(examples: Examples, *, training: bool) -> int:
    """Render every row; the number of those that are cut. Raises `RunFailed`."""
    label, _ = _label_and_limit(training=training)
    try:
        return await asyncio.to_thread(examples.count_cut)
    except DatasetError as error:
        raise _invalid(label, error) from error


def _label_and_limit(*, training: bool) -> tuple[str, int]:
    return ("training", MAX_TRAIN_EXAMPLES) if training else ("validation", MAX_VALID_EXAMPLES)


def _invalid(label: str, error: DatasetError) -> RunFailed:
    return RunFailed(
        f"Invalid file format. {error}", code=f"invalid_{label}_file", param=f"{label}_file"
    )


def _check_count(label: str, rows: int) -> None:
    if rows < MIN_EXAMPLES:
        raise RunFailed(
            f"{label.capitalize()} file has {rows} example(s), but must have at least "
            f"{MIN_EXAMPLES} examples",
            code="invalid_n_examples",
            param=f"{label}_file",
        )


async def _path(context: RunContext, *, training: bool) -> Path:
    label, _ = _label_and_limit(training=training)
    file_id = context.job.training_file if training else str(context.job.validation_file)

    async def look_up() -> Path:
        async with context.unit() as unit:
            row = await unit.files.get_for_run(file_id)
        return context.objects.local_path(row.object_key)

    try:
        path = await retry_while_unavailable(look_up)
    except NotFound:
        path = None
    if path is None or not path.is_file():
        raise RunFailed(
            f"The {label} file {file_id} was deleted.",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        )
    return path
