"""Runs one claim of an eval run: the remaining items, several at a time, then the run's end.

The samples of an item are written together under the run's fence, with the totals so far; the next
claim continues with the items that have none.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import structlog

from app.domain.errors import RunFailed, first_fault
from app.domain.evals.data_sources import EvalRow
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

    async def run(self) -> None:
        """Works until the run completes. Raises `RunFailed`, or `LeaseLost` when another claim took
        the run.
        """
        await self._work_on_all(await load_rows(self._context))
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
                self._context.tally.add(item.status, item.results, usage)

            async def write() -> None:
                async with self._context.unit() as unit:
                    for item, usage in worked:
                        position = item.index * samples + item.sample_index
                        await unit.items.insert(item, position=position, usage=usage)
                    await unit.run.count(self._context.tally)

            await retry_while_unavailable(write)

    async def _complete(self) -> None:
        async with self._context.unit() as unit:
            await unit.run.complete()
