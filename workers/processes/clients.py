"""Opens the clients that a worker process uses, and closes them at its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from app.database import Database
from app.graders.judge_calls import build_judge_egress
from app.kit.egress import Egress
from app.kit.egress_client import build_egress
from app.kit.endpoints import cache_salt
from app.kit.job_queue import CeleryJobQueue, JobQueue
from app.kit.objects import Objects, build_objects
from app.models.engine import AdapterCache, Inference, build_adapter_cache
from app.models.engine_http import HttpInference
from app.settings import Settings, load_settings
from workers.progress import PROGRESS

POOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class Clients:
    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    judge_egress: Egress
    inference: Inference
    """Client of the engine, with a prompt cache that only prompts of the same project share."""

    @property
    def adapters(self) -> AdapterCache:
        return build_adapter_cache(self.settings, self.objects)


@asynccontextmanager
async def open_database(settings: Settings, *, pool_size: int) -> AsyncIterator[Database]:
    """A stopped process's transaction ends no later than the lease under which it began."""
    database = Database(
        settings.worker_database_url,
        pool_size=pool_size,
        idle_in_transaction_s=settings.lease.lease_s,
    )
    try:
        yield database
    finally:
        await database.dispose()


def open_inference(settings: Settings) -> HttpInference:
    key = settings.engine_api_key.get_secret_value()
    return HttpInference(
        settings.engine_url,
        api_key=key,
        on_progress=lambda: PROGRESS.mark("engine at work"),
        background=True,
    )


@asynccontextmanager
async def open_clients(settings: Settings, *, project_id: str) -> AsyncIterator[Clients]:
    namespace = cache_salt(settings.secret_key.get_secret_value(), project_id)
    async with (
        open_database(settings, pool_size=POOL_SIZE) as database,
        aclosing(open_inference(settings)) as inference,
        aclosing(
            build_judge_egress(settings.judges, settings.egress, embeddings=settings.embeddings)
        ) as judge_egress,
        aclosing(build_egress(settings.egress)) as egress,
    ):
        yield Clients(
            settings=settings,
            database=database,
            objects=build_objects(settings),
            egress=egress,
            judge_egress=judge_egress,
            inference=inference.with_cache_namespace(namespace),
        )


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PeriodicTaskClients:
    settings: Settings
    database: Database
    """One connection. The pool replaces it once the server has closed it."""
    queue: JobQueue


class PeriodicTasks:
    """The first call opens the clients: a forked process shares none. Not safe for threads."""

    def __init__(self, settings: Callable[[], Settings] = load_settings) -> None:
        self._settings = settings
        self._runner: asyncio.Runner | None = None
        self._stack = AsyncExitStack()
        self._clients: PeriodicTaskClients | None = None

    def run(self, task: Callable[[PeriodicTaskClients], Coroutine[Any, Any, T]]) -> T:
        """An error of `task` closes all clients; the next call opens new ones."""
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
