"""The event log across tenants, for the worker's role only: sequence, read, advance, prune.

A consumer misses no event, whatever the order of commits: the sequencer, one at a time, assigns the
next positions to the rows that are committed by then, so that one that a reader cannot see yet gets
a higher position than every row that it has seen.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, func, not_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.across_tenants import CrossTenantUnitOfWork
from app.database import Database
from app.events.store import CommittedEvent
from app.events.store import EventCursorTable as Cursor
from app.events.store import EventLogTable as Table
from app.kit.errors import LeaseLost
from app.kit.leases import is_unleased, new_claim
from app.kit.sql import SessionRows, from_row
from app.kit.transactions import of_session
from app.webhooks.deliveries import WebhookFanOut

ALL_PROJECTS: Final = "*"
_JOB: Final = "ftjob-"
ENDED: Final = 2**63 - 1
"""Position of a cursor whose consumer reads no more: no event has it."""
_SEQUENCER: Final = "sequencer"
"""Consumer whose cursor is the last assigned position; the lock on its row allows to assign."""
_ASSIGN = text("""
    WITH unsequenced AS (
        SELECT seq, :head + row_number() OVER (ORDER BY seq) AS position
        FROM (SELECT seq FROM event_log WHERE position IS NULL ORDER BY seq LIMIT :limit) AS oldest
    )
    UPDATE event_log SET position = unsequenced.position
    FROM unsequenced WHERE event_log.seq = unsequenced.seq
""")


@dataclass(frozen=True, slots=True)
class ClaimedCursor:
    consumer: str
    scope: str
    position: int
    fence: int


@dataclass(frozen=True, slots=True)
class LogPage:
    events: list[CommittedEvent]
    position: int
    """The last position that was read: the page contains every requested event up to it."""


class EventLogReader(SessionRows):
    async def sequence(self, limit: int) -> int:
        """Assigns positions to the oldest committed rows without one. Returns their number."""
        head = await _locked(self._session, _SEQUENCER, ALL_PROJECTS)
        # A second statement: its snapshot is newer than the lock, and has the positions of others.
        values = {"head": head.position, "limit": limit}
        assigned = (await self._session.execute(_ASSIGN, values)).rowcount  # type: ignore[attr-defined]  # a cursor's result
        if assigned:
            cursors = EventCursorStore(self._session)
            await cursors.move(_SEQUENCER, ALL_PROJECTS, position=head.position + assigned)
        return int(assigned)

    async def read_after(
        self, position: int, *, scope: str, types: Collection[str] | None, limit: int
    ) -> LogPage:
        last = select(Cursor.position).where(_is(_SEQUENCER, ALL_PROJECTS))
        head = await self._session.scalar(last) or 0
        query = select(Table).where(Table.position > position, Table.position <= head)
        if scope.startswith(_JOB):
            query = query.where(Table.subject == scope)
        elif scope != ALL_PROJECTS:
            query = query.where(Table.project_id == scope)
        if types is not None:
            query = query.where(Table.type.in_(types))
        rows = (await self._session.scalars(query.order_by(Table.position).limit(limit))).all()
        events = [_to_event(row) for row in rows]
        reached = events[-1].position if len(events) == limit else max(head, position)
        return LogPage(events, reached)

    async def forget(self, limit: int, *, keep_s: float) -> int:
        oldest = (
            select(Table.seq)
            .where(Table.position.is_not(None))
            .order_by(Table.position)
            .limit(limit)
            .scalar_subquery()
        )
        deleted = await self._session.scalars(
            delete(Table)
            .where(
                Table.seq.in_(oldest), Table.created_at <= func.now() - timedelta(seconds=keep_s)
            )
            .returning(Table.seq)
        )
        return len(deleted.all())


class EventCursorStore(SessionRows):
    async def lock(self, consumer: str, scope: str) -> int:
        return (await _locked(self._session, consumer, scope)).position

    async def move(self, consumer: str, scope: str, *, position: int) -> None:
        moved = await self._session.scalar(
            update(Cursor)
            .where(_is(consumer, scope), Cursor.position <= position)
            .values(position=position)
            .returning(Cursor.position)
        )
        if moved is None:
            raise ValueError(f"cursor {consumer} goes back to {position}")

    async def ended(
        self, consumers: Collection[str], scopes: Collection[str]
    ) -> set[tuple[str, str]]:
        query = select(Cursor.consumer, Cursor.scope).where(
            Cursor.consumer.in_(consumers), Cursor.scope.in_(scopes), Cursor.position == ENDED
        )
        return {(row.consumer, row.scope) for row in await self._session.execute(query)}

    async def claim(self, consumer: str, scope: str, *, lease_s: float) -> ClaimedCursor | None:
        await _locked(self._session, consumer, scope)
        row = (
            await self._session.execute(
                update(Cursor)
                .where(_is(consumer, scope), is_unleased(Cursor))
                .values(**new_claim(Cursor, lease_s))
                .returning(Cursor.position, Cursor.fence)
            )
        ).one_or_none()
        return None if row is None else ClaimedCursor(consumer, scope, row.position, row.fence)

    async def advance(self, claimed: ClaimedCursor, position: int) -> None:
        """Stores that every event up to `position` was handled, and ends the lease.

        Raises `LeaseLost` once the lease has ended or a newer claim was made, and `ValueError` for
        a position before the claimed one.
        """
        if position < claimed.position:
            raise ValueError(f"cursor {claimed.consumer} goes back to {position}")
        advanced = await self._session.scalar(
            update(Cursor)
            .where(
                _is(claimed.consumer, claimed.scope),
                Cursor.fence == claimed.fence,
                not_(is_unleased(Cursor)),
                Cursor.position <= position,
            )
            .values(position=position, lease_until=None)
            .returning(Cursor.position)
        )
        if advanced is None:
            raise LeaseLost(f"the lease of cursor {claimed.consumer} at {claimed.fence} has ended")


async def _locked(session: AsyncSession, consumer: str, scope: str) -> Cursor:
    """Returns the row of a cursor, locked; a new one begins with the oldest event of the log."""
    await session.execute(
        insert(Cursor).values(consumer=consumer, scope=scope).on_conflict_do_nothing()
    )
    query = select(Cursor).where(_is(consumer, scope)).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one()


def _is(consumer: str, scope: str) -> ColumnElement[bool]:
    return (Cursor.consumer == consumer) & (Cursor.scope == scope)


def _to_event(row: Table) -> CommittedEvent:
    return from_row(
        CommittedEvent, row, position=row.position or 0, created_at=row.created_at.timestamp()
    )


class EventReaderUnitOfWork(CrossTenantUnitOfWork):
    """A transaction that sees the log and the cursors of all tenants."""

    log = of_session(EventLogReader)
    cursors = of_session(EventCursorStore)
    webhooks = of_session(WebhookFanOut)


def event_reader(database: Database) -> EventReaderUnitOfWork:
    """Returns a reader's transaction. Only the worker's role gets any row in it."""
    return EventReaderUnitOfWork(database)
