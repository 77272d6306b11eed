"""Runs the periodic tasks on one event loop per process, with clients that stay open.

A new loop and pool for each call would log in to Postgres, start a server process there and compile
each statement again: about 50 ms of processor time per call, several times in ten seconds, even
while the service is idle.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from app.gateways.job_queue import CeleryJobQueue, JobQueue
from app.settings.settings import Settings, load_settings
from app.store.database import Database
from workers.processes.clients import open_database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PeriodicTaskClients:
    settings: Settings
    database: Database
    """One connection. The pool replaces it once the server has closed it."""
    queue: JobQueue


class PeriodicTasks:
    """Runs one task at a time. The first call opens the clients, so that a process forked before
    it shares none of them. Not safe for threads.
    """

    def __init__(self, settings: Callable[[], Settings] = load_settings) -> None:
        self._settings = settings
        self._runner: asyncio.Runner | None = None
        self._stack = AsyncExitStack()
        self._clients: PeriodicTaskClients | None = None

    def run(self, task: Callable[[PeriodicTaskClients], Coroutine[Any, Any, T]]) -> T:
        """Runs `task` to its end. An error of `task` closes all clients; the next call opens new
        ones.
        """
        if self._runner is None:
            self._runner = asyncio.Runner()
        try:
            return self._runner.run(self._with_clients(task))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        runner, self._runner = self._runner, None
        stack, self._stack = self._stack, AsyncExitStack()
        self._clients = None
        if runner is not None:
            with runner:
                runner.run(stack.aclose())

    async def _with_clients(
        self, task: Callable[[PeriodicTaskClients], Coroutine[Any, Any, T]]
    ) -> T:
        if self._clients is None:
            settings = self._settings()
            database = await self._stack.enter_async_context(open_database(settings, pool_size=1))
            queue = await self._stack.enter_async_context(
                aclosing(CeleryJobQueue(settings.redis_url))
            )
            self._clients = PeriodicTaskClients(settings, database, queue)
        return await task(self._clients)


PERIODIC_TASKS: Final = PeriodicTasks()
