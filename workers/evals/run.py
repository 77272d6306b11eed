"""Runs one claim of an eval run: the remaining items, several at a time, then the run's end.

Every item is written under the run's fence together with the totals so far; the next claim
continues after the last item written.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import structlog

from app.domain.errors import RunFailed, first_fault
from app.domain.evals.data_sources import EvalRow
from app.domain.evals.evals import OutputItem
from workers.evals.context import EvalContext
from workers.evals.criteria import TokensByModel
from workers.evals.items import work_on
from workers.evals.rows import load_rows
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()

CONCURRENT_ITEMS: Final = 16


class EvalWork:
    def __init__(self, context: EvalContext) -> None:
        self._context = context
        self._writing = asyncio.Lock()

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
                    for _ in range(CONCURRENT_ITEMS):
                        tasks.create_task(self._work(rows))
        except TimeoutError:
            if not limit.expired():
                raise
            message = f"The run did not end within {limit_s:g} seconds. Its items so far are kept."
            raise RunFailed(message, code="run_timeout") from None

    async def _work(self, rows: Iterator[tuple[int, EvalRow]]) -> None:
        for position, row in rows:
            if position not in self._context.done:
                item, usage = await work_on(self._context, position, row)
                await self._write(item, usage)

    async def _write(self, item: OutputItem, usage: TokensByModel) -> None:
        async with self._writing:
            self._context.tally.add(item.status, item.results, usage)

            async def write() -> None:
                async with self._context.unit() as unit:
                    await unit.items.insert(item, usage=usage)
                    await unit.run.count(self._context.tally)

            await retry_while_unavailable(write)

    async def _complete(self) -> None:
        async with self._context.unit() as unit:
            await unit.run.complete()
