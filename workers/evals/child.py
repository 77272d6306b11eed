"""The child of one claim of an eval run: `python -m workers.evals.child RUN PROJECT FENCE`."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import BinaryIO, Final

import structlog

from app.evals.claims import leased_eval_run
from app.evals.data_sources import (
    MAX_ITEMS,
    MAX_REPEATED_BYTES,
    EvalRow,
    FileContent,
    RowFault,
    parse_row,
    repeats_too_much,
)
from app.evals.evals import ALL_ITEMS_ERRORED, OutputItem, nothing_scored
from app.files.rows import MAX_ROW_BYTES, is_blank
from app.kit.errors import NotFound, RunFailed, together
from app.kit.leases import Lease
from app.kit.objects import local_copy
from app.kit.telemetry import SPANS
from workers.evals.context import EvalContext, open_eval_run
from workers.evals.items import WorkedItem, work_on
from workers.leased_kinds import EVAL_RUNS
from workers.processes.child import run_dispatched
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()

CONCURRENT_SAMPLES: Final = 16


class EvalWork:
    def __init__(self, context: EvalContext) -> None:
        self._context = context
        self._writing = asyncio.Lock()
        self._slots = asyncio.Semaphore(CONCURRENT_SAMPLES)
        self._first_fault: str | None = None

    async def run(self) -> None:
        await self._work_on_all(await load_rows(self._context))
        self._check_scored()
        await retry_while_unavailable(self._complete)
        log.info("eval run completed", counts=self._context.tally.counts)

    async def _work_on_all(self, rows: Iterator[tuple[int, EvalRow]]) -> None:
        limit_s = self._context.clients.settings.runs.max_eval_run_s
        limit = asyncio.timeout(limit_s - self._context.age_s)
        try:
            async with limit:
                await together(self._work(rows) for _ in range(CONCURRENT_SAMPLES))
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"The run did not end within {limit_s:g} seconds. Its items so far are kept."
            raise RunFailed(message, code="run_timeout") from None

    async def _work(self, rows: Iterator[tuple[int, EvalRow]]) -> None:
        samples = self._context.source.samples
        for index, row in rows:
            if index * samples not in self._context.done:
                await self._write(await work_on(self._context, index, row, slots=self._slots))

    async def _write(self, worked: list[WorkedItem]) -> None:
        samples = self._context.source.samples
        async with self._writing:
            for item, usage in worked:
                self._note(item)
                self._context.tally.add(item.status, item.results, usage)

            async def write() -> None:
                async with self._context.unit() as unit:
                    for item, usage in worked:
                        position = item.index * samples + item.sample_index
                        await unit.items.insert(item, position=position, usage=usage)
                    await unit.run.count(self._context.tally)

            await retry_while_unavailable(write)

    def _note(self, item: OutputItem) -> None:
        fault = item.sample.get("error")
        if self._first_fault is None and fault is not None:
            self._first_fault = fault["message"]

    def _check_scored(self) -> None:
        """A completed run without any score would look like a bad model. Raises `RunFailed`."""
        counts = self._context.tally.counts
        if counts.errored < counts.total:
            return
        raise RunFailed(nothing_scored(counts.total, self._first_fault), code=ALL_ITEMS_ERRORED)

    async def _complete(self) -> None:
        async with self._context.unit() as unit:
            await unit.run.complete()


async def load_rows(context: EvalContext) -> Iterator[tuple[int, EvalRow]]:
    """Returns the items with their positions. Raises `RunFailed` for an unusable file."""
    source = context.source.source
    if isinstance(source, FileContent):
        return enumerate(source.content)
    return await _rows_of_file(context, source.id)


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
    """Checks every item before any paid call. Raises `RowFault` and closes the file."""
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


async def work(clients: Clients, lease: Lease) -> None:
    """Raises `LeaseLost` once the run was canceled or claimed again."""
    try:
        await EvalWork(await open_eval_run(clients, lease)).run()
    except RunFailed as failure:
        await _fail(clients, lease, failure)


async def _fail(clients: Clients, lease: Lease, failure: RunFailed) -> None:
    async def fail() -> None:
        async with leased_eval_run(clients.database, lease) as unit:
            await unit.run.fail(failure.code, failure.message)

    await retry_while_unavailable(fail)
    SPANS.mark_failed(failure.code)
    log.warning("eval run failed", code=failure.code)


if __name__ == "__main__":
    sys.exit(run_dispatched(EVAL_RUNS, work))
