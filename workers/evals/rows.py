"""Reads the items of an eval run: from the run itself, or from a file that is checked first."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from app.domain.data.chat_rows import MAX_ROW_BYTES
from app.domain.errors import NotFound, RunFailed
from app.domain.evals.data_sources import (
    MAX_ITEMS,
    EvalRow,
    FileContent,
    RowFault,
    parse_row,
)
from workers.evals.context import EvalContext
from workers.processes.retry import retry_while_unavailable


async def load_rows(context: EvalContext) -> Iterator[tuple[int, EvalRow]]:
    """Items with their positions. Raises `RunFailed` for a file that cannot be used."""
    source = context.source.source
    if isinstance(source, FileContent):
        return enumerate(source.content)
    file_id = source.id

    async def look_up() -> Path:
        async with context.unit() as unit:
            row = await unit.files.get(file_id)
        return context.clients.objects.local_path(row.object_key)

    try:
        path = await retry_while_unavailable(look_up)
        await asyncio.to_thread(_check, path)
    except (NotFound, FileNotFoundError) as error:
        raise RunFailed(f"The file {file_id} was deleted.", code="file_not_found") from error
    except RowFault as fault:
        raise RunFailed(f"Invalid file format. {fault}", code="invalid_file") from fault
    return enumerate(_rows(path))


def _check(path: Path) -> None:
    """Reads every item before the first one causes a paid call. Raises `RowFault`."""
    count = 0
    for count, _ in enumerate(_rows(path), start=1):
        if count > MAX_ITEMS:
            raise RowFault(count, f"the file has more than {MAX_ITEMS} items")
    if count == 0:
        raise RowFault(1, "the file has no items")


def _rows(path: Path) -> Iterator[EvalRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_ROW_BYTES + 2):
            number += 1
            if line.strip():
                yield parse_row(line, number)
