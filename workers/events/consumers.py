"""The consumers of committed events: a name, the types of events it reads, and a function.

Owns the guarantees to a consumer. Each has its own cursor, gets the events of a job in the order in
which they were committed, and begins with the oldest event that the log still has. Must not know
how a cursor is stored.

An exporter is an `ExternalConsumer`, which its own process passes to a `Follower`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.events.log import CommittedEvent
from app.domain.events.webhooks import EVENT_TYPES
from app.store.events.reader import ALL_PROJECTS, EventReaderUnitOfWork

Events = Sequence[CommittedEvent]


@dataclass(frozen=True, slots=True)
class RowConsumer:
    """Makes rows from events, in the transaction that advances its cursor: each event counts
    exactly once. `write` must wait for nothing but the database.
    """

    name: str
    write: Callable[[EventReaderUnitOfWork, Events], Awaitable[None]]
    types: frozenset[str] | None = None
    """Types of events that it reads; `None` for all types."""
    scope: str = ALL_PROJECTS
    """Id of the project or of the job whose events it reads, or `ALL_PROJECTS`."""


@dataclass(frozen=True, slots=True)
class ExternalConsumer:
    """Sends events elsewhere, outside of any transaction and under a lease on its cursor: each
    event is sent at least once, again after a fault or the death of the process.
    """

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
