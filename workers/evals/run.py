"""Runs one claim of an eval run: the remaining items, several at a time, then the run's end.

The samples of an item are written together under the run's fence, with the totals so far; the next
claim continues with the items that have none. Promises: a run that could score nothing has failed.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import structlog

from app.domain.errors import RunFailed, first_fault
from app.domain.evals.data_sources import EvalRow
from app.domain.evals.evals import ALL_ITEMS_ERRORED, OutputItem, nothing_scored
from workers.evals.context import EvalContext
from workers.evals.items import WorkedItem, work_on
from workers.evals.rows import load_rows
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()

CONCURRENT_SAMPLES: Final = 16
"""Answers that a run samples at a time."""


class EvalWork:
    def __init__(self, context: EvalContext) -> None:
        self._context = context
        self._writing = asyncio.Lock()
        self._slots = asyncio.Semaphore(CONCURRENT_SAMPLES)
        self._first_fault: str | None = None
        """The text of the first item that this claim could not score."""

    async def run(self) -> None:
        """Works until the run completes. Raises `RunFailed`, or `LeaseLost` when another claim took
        the run.
        """
        await self._work_on_all(await load_rows(self._context))
        self._check_scored()
        await retry_while_unavailable(self._complete)
        log.info("eval run completed", counts=self._context.tally.counts)

    async def _work_on_all(self, rows: Iterator[tuple[int, EvalRow]]) -> None:
        """Works on all remaining items. Raises `RunFailed` once the run exceeds the longest time of
        a run.
        """
        limit_s = self._context.clients.settings.runs.max_eval_run_s
        limit = asyncio.timeout(limit_s - self._context.age_s)
        try:
            with first_fault():
                async with limit, asyncio.TaskGroup() as tasks:
                    for _ in range(CONCURRENT_SAMPLES):
                        tasks.create_task(self._work(rows))
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
        """Raises `RunFailed` where no sample has a score: a completed run would look like a bad
        model.
        """
        counts = self._context.tally.counts
        if counts.errored < counts.total:
            return
        raise RunFailed(nothing_scored(counts.total, self._first_fault), code=ALL_ITEMS_ERRORED)

    async def _complete(self) -> None:
        async with self._context.unit() as unit:
            await unit.run.complete()
