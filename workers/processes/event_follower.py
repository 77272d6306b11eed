"""Brings consumers up to the end of the log; a cursor passes an event once it is handled."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from app.database import Database
from app.events.reader_store import ALL_PROJECTS, ClaimedCursor, EventReaderUnitOfWork, event_reader
from app.events.store import CommittedEvent
from app.kit.errors import LeaseLost, Unavailable
from app.webhooks.events import EVENT_TYPES

Events = Sequence[CommittedEvent]


@dataclass(frozen=True, slots=True)
class RowConsumer:
    """Makes rows in the transaction that moves its cursor; `write` waits for the database alone."""

    name: str
    write: Callable[[EventReaderUnitOfWork, Events], Awaitable[None]]
    types: frozenset[str] | None = None
    scope: str = ALL_PROJECTS
    """Id of the project or of the job whose events it reads, or `ALL_PROJECTS`."""


@dataclass(frozen=True, slots=True)
class ExternalConsumer:
    """Sends events outside of transactions, under a lease on its cursor: at least once."""

    name: str
    send: Callable[[Events], Awaitable[None]]
    types: frozenset[str] | None = None
    scope: str = ALL_PROJECTS


Consumer = RowConsumer | ExternalConsumer


async def _deliver(unit: EventReaderUnitOfWork, events: Events) -> None:
    for event in events:
        await unit.webhooks.fan_out(event)


WEBHOOKS: Final = RowConsumer("webhooks", _deliver, types=frozenset(EVENT_TYPES))
"""Makes a delivery for each endpoint subscribed to an event; `workers.webhooks` sends them."""


log = structlog.get_logger()

BATCH: Final = 500
LEASE_S: Final = 60.0
_SHARE_TO_SEND: Final = 0.8
"""A batch is cancelled then, so that it ends before another process begins it."""


class Follower:
    def __init__(
        self,
        database: Database,
        consumers: Sequence[Consumer],
        *,
        batch: int = BATCH,
        lease_s: float = LEASE_S,
    ) -> None:
        self._database = database
        self._consumers = consumers
        self._batch = batch
        self._lease_s = lease_s

    async def catch_up(self) -> None:
        """Makes each consumer handle the events committed before the call. Raises `Unavailable`."""
        while await self._sequence() == self._batch:
            pass
        following = (self._follow(consumer) for consumer in self._consumers)
        for result in await asyncio.gather(*following, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    async def _sequence(self) -> int:
        async with event_reader(self._database) as unit:
            return await unit.log.sequence(self._batch)

    async def _follow(self, consumer: Consumer) -> None:
        try:
            while await self._next_batch(consumer):
                pass
        except Unavailable:
            raise
        except Exception:  # the boundary of one consumer: it tries again with the next call
            log.exception("consumer of events failed", consumer=consumer.name)

    async def _next_batch(self, consumer: Consumer) -> bool:
        """Handles one batch. Returns whether more events may follow."""
        if isinstance(consumer, RowConsumer):
            return await self._write(consumer)
        return await self._send(consumer)

    async def _write(self, consumer: RowConsumer) -> bool:
        async with event_reader(self._database) as unit:
            position = await unit.cursors.lock(consumer.name, consumer.scope)
            page = await unit.log.read_after(
                position, scope=consumer.scope, types=consumer.types, limit=self._batch
            )
            if page.events:
                await consumer.write(unit, page.events)
            if page.position > position:
                await unit.cursors.move(consumer.name, consumer.scope, position=page.position)
        return len(page.events) == self._batch

    async def _send(self, consumer: ExternalConsumer) -> bool:
        async with event_reader(self._database) as unit:
            claimed = await unit.cursors.claim(consumer.name, consumer.scope, lease_s=self._lease_s)
            if claimed is None:
                return False
            page = await unit.log.read_after(
                claimed.position, scope=consumer.scope, types=consumer.types, limit=self._batch
            )
        reached = claimed.position
        try:
            if page.events:
                async with asyncio.timeout(self._lease_s * _SHARE_TO_SEND):
                    await consumer.send(page.events)
            reached = page.position
        finally:
            await self._advance(claimed, reached)
        return len(page.events) == self._batch

    async def _advance(self, claimed: ClaimedCursor, position: int) -> None:
        """Called after a fault too: the next call need not wait until the lease runs out."""
        try:
            async with event_reader(self._database) as unit:
                await unit.cursors.advance(claimed, position)
        except LeaseLost:
            log.warning(
                "lease of the cursor lost, events are sent again", consumer=claimed.consumer
            )
