"""Reads the items of an eval run: from the run itself, or from a file that is checked first."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import BinaryIO, assert_never

from app.domain.data.chat_rows import MAX_ROW_BYTES, is_blank
from app.domain.errors import NotFound, RunFailed
from app.domain.evals.data_sources import (
    MAX_ITEMS,
    MAX_REPEATED_BYTES,
    EvalRow,
    FileContent,
    FileReference,
    RowFault,
    parse_row,
    repeats_too_much,
)
from app.gateways.objects import local_copy
from workers.evals.context import EvalContext
from workers.processes.retry import retry_while_unavailable


async def load_rows(context: EvalContext) -> Iterator[tuple[int, EvalRow]]:
    """Returns the items with their positions. Raises `RunFailed` for an unusable file."""
    match context.source.source:
        case FileContent(content=content):
            return enumerate(content)
        case FileReference(id=file_id):
            return await _rows_of_file(context, file_id)
        case source:
            assert_never(source)


async def _rows_of_file(context: EvalContext, file_id: str) -> Iterator[tuple[int, EvalRow]]:
    clients = context.clients

    async def opened() -> BinaryIO:
        async with context.unit() as unit:
            row = await unit.files.get(file_id)
        async with local_copy(clients.objects, row.object_key, clients.settings.work_dir) as path:
            return path.open("rb")

    try:
        file = await retry_while_unavailable(opened)
        await asyncio.to_thread(_check, file, context.source.samples)
    except (NotFound, FileNotFoundError) as error:
        raise RunFailed(f"The file {file_id} was deleted.", code="file_not_found") from error
    except RowFault as fault:
        raise RunFailed(f"Invalid file format. {fault}", code="invalid_file") from fault
    return enumerate(_rows_to_the_end(file))


def _check(file: BinaryIO, samples: int) -> None:
    """Checks every item before any paid call; closes the file if an item has a fault. Raises
    `RowFault`.
    """
    with ExitStack() as stack:
        stack.push(file)
        _check_items(file, samples)
        stack.pop_all()


def _rows_to_the_end(file: BinaryIO) -> Iterator[EvalRow]:
    with file:
        yield from _rows(file)


def _check_items(file: BinaryIO, samples: int) -> None:
    count = size = 0
    for count, row in enumerate(_rows(file), start=1):
        size += len(json.dumps(row.item)) if samples > 1 else 0
        if count > MAX_ITEMS:
            raise RowFault(count, f"the file has more than {MAX_ITEMS} items")
        if count * samples > MAX_ITEMS:
            raise RowFault(
                count,
                f"the rows up to this one make more than {MAX_ITEMS} samples, "
                f"{samples} of each item",
            )
        if repeats_too_much(size, samples):
            raise RowFault(
                count,
                f"the rows up to this one make more than {MAX_REPEATED_BYTES} bytes, because "
                f"each of {samples} samples is stored with its item",
            )
    if count == 0:
        raise RowFault(1, "the file has no items")


def _rows(file: BinaryIO) -> Iterator[EvalRow]:
    file.seek(0)
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        if not is_blank(line):
            yield parse_row(line, number)
