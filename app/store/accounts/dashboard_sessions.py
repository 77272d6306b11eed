"""Sessions of the dashboard and links that begin one, as rows."""

from typing import Any, Final

from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.dashboard_sessions import MAX_TICKETS, Ticket, TicketKind
from app.store.schema.dashboard_sessions import DashboardSessionTable as Table
from app.store.statements import PreparedStatement, Statements
from app.store.times import moment, unix

TICKET: Final = "app.dashboard_session"
_FIND: Final = PreparedStatement(
    lambda scope: scope.within(
        select(Table.__table__).where(Table.id == scope.value, Table.expires_at > func.now())
    ),
    setting=TICKET,
)

_ONE_AT_A_TIME: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


class TicketLookup:
    """Finds one session or link by its id, while the visitor is not known yet."""

    def __init__(self, statements: Statements) -> None:
        """The setting `app.dashboard_session` of `statements` is the id."""
        self._statements = statements

    async def find(self) -> Ticket | None:
        """Returns `None` for one that has expired, too."""
        rows = await self._statements.rows(_FIND, {})
        return _to_ticket(rows[0]) if rows else None


class TicketStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def insert(self, ticket: Ticket) -> None:
        """Stores a ticket, and ends the oldest of its kind and key beyond `MAX_TICKETS`."""
        await self._session.execute(_ONE_AT_A_TIME, {"name": f"tickets/{ticket.key_id}"})
        await self._session.execute(
            insert(Table).values(
                id=ticket.id,
                kind=ticket.kind.value,
                project_id=ticket.project_id,
                key_id=ticket.key_id,
                created_at=func.clock_timestamp(),
                expires_at=moment(ticket.expires_at),
            )
        )
        too_many = (
            select(Table.id)
            .where(Table.key_id == ticket.key_id, Table.kind == ticket.kind.value)
            .order_by(Table.created_at.desc(), Table.id)
            .offset(MAX_TICKETS)
        )
        await self._session.execute(delete(Table).where(Table.id.in_(too_many)))

    async def remove(self, ticket_id: str) -> bool:
        """Returns False when it was gone already: of several callers one gets True."""
        removed = await self._session.scalars(
            delete(Table).where(Table.id == ticket_id).returning(Table.id)
        )
        return removed.first() is not None


def _to_ticket(row: Any) -> Ticket:
    return Ticket(
        id=row.id,
        kind=TicketKind(row.kind),
        project_id=row.project_id,
        key_id=row.key_id,
        expires_at=unix(row.expires_at),
    )
