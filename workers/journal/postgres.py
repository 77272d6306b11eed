"""The run's journal in Postgres: entries are durable before they are used.

Writes of many rollouts are collected into one transaction at a time (group commit), so that the few
hundred entries of a step cost a few dozen transactions. Must not know how a run is claimed.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.progress import PROGRESS

Entry = tuple[str, str, dict[str, Any]]
"""Key, sha256 of the request, payload."""


class PostgresJournal:
    """Implements `workers.journal.journal.Journal` for one step of one run."""

    def __init__(self, unit: Callable[[], RunUnitOfWork], *, job_id: str, step: int) -> None:
        """`unit` opens a transaction that is fenced by the run's claim."""
        self._unit = unit
        self._job_id = job_id
        self._step = step
        self._known: dict[str, tuple[str, dict[str, Any]]] = {}
        self._waiting: list[tuple[Entry, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self.replayed = 0
        """Number of entries of an earlier claim that replaced a new call."""

    async def load(self) -> None:
        """Reads the entries that earlier claims wrote for this step."""

        async def read() -> None:
            async with self._unit() as unit:
                self._known = await unit.journal.get_many(self._job_id, self._step)

        await retry_while_unavailable(read)

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        entry = self._known.get(key)
        if entry is None or entry[0] != request_sha256:
            return None
        self.replayed += 1
        return entry[1]

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(((key, request_sha256, payload), durable))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        await durable

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                entries = [entry for entry, _ in batch]
                await retry_while_unavailable(partial(self._write, entries))
            except BaseException as error:
                for _, durable in batch:
                    if not durable.done():
                        durable.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                continue
            for _, durable in batch:
                if not durable.done():
                    durable.set_result(None)

    async def _write(self, entries: list[Entry]) -> None:
        async with self._unit() as unit:
            await unit.journal.put_many(self._job_id, self._step, entries)
        PROGRESS.mark(f"answers of step {self._step} stored")
