"""Pools whose connections outlive a test. A new connection costs a login, and its backend reads the
catalogue for each table that it first meets; both cost more than the statements of most tests.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit
from weakref import WeakSet

from anyio import to_process
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from typing_extensions import override

import app.database


@dataclass(slots=True)
class _Pools:
    loop: asyncio.AbstractEventLoop | None = None
    free: dict[str, dict[Hashable, list["KeptEngine"]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """By the name of a database, and by the options of an engine."""


_POOLS = _Pools()


class KeptEngine(AsyncEngine):
    """Waits for the next test with the same options, when a test disposes of it."""

    __slots__ = ("_connections", "_database", "_key")

    def __init__(self, engine: AsyncEngine, database: str, key: Hashable) -> None:
        super().__init__(engine.sync_engine)
        self._database, self._key = database, key
        self._connections: WeakSet[Any] = WeakSet()
        event.listen(self.sync_engine, "connect", self._note)

    def _note(self, connection: Any, _record: object) -> None:
        self._connections.add(connection.driver_connection)

    @override
    async def dispose(self, close: bool = True) -> None:
        if asyncio.get_running_loop() is not _POOLS.loop:
            await super().dispose(close)
            return
        free = _POOLS.free[self._database][self._key]
        if self not in free:
            free.append(self)

    def sessions(self) -> set[int]:
        """Returns the process ids of the open connections' backends."""
        open_ones = [each for each in self._connections if not each.closed]
        return {each.info.backend_pid for each in open_ones}

    def close_connections(self) -> None:
        for connection in list(self._connections):
            with suppress(Exception):
                connection.pgconn.finish()


def _engine(url: str, **options: Any) -> AsyncEngine:
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is None or running is not _POOLS.loop:
        return create_async_engine(url, **options)
    database, key = urlsplit(url).path[1:], (url, repr(options))
    free = _POOLS.free[database][key]
    return free.pop() if free else KeptEngine(create_async_engine(url, **options), database, key)


def keep_pools() -> None:
    """Applies to every `Database` that is opened in the loop of `note_loop`."""
    patch.object(app.database, "create_async_engine", _engine).start()


def note_loop() -> None:
    """Keeps the pools of the running loop, which all tests of a process share.

    anyio kills its pool of processes at the end of the task that first used it, here a test's.
    """
    _POOLS.loop = asyncio.get_running_loop()
    to_process._process_pool_workers.set(set())
    to_process._process_pool_idle_workers.set(deque())


async def end_processes() -> None:
    for process in to_process._process_pool_workers.get():
        process.kill()
        await process.aclose()


def kept_sessions(database: str) -> set[int]:
    """Returns the backends of pools that no test has."""
    free = _POOLS.free[database].values()
    return {pid for engines in free for engine in engines for pid in engine.sessions()}


def close_pools(database: str) -> None:
    for engines in _POOLS.free.pop(database, {}).values():
        for engine in engines:
            engine.close_connections()
