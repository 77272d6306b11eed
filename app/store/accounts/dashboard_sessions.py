"""Sessions of the dashboard and links that begin one, as rows."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.dashboard_sessions import MAX_SESSIONS, SessionKind, StoredSession
from app.store.schema.dashboard_sessions import DashboardSessionTable as Table
from app.store.times import moment, unix
from app.store.transactions.statements import ACTOR, PreparedStatement, Statements

SESSION: Final = "app.dashboard_session"
_FIND: Final = PreparedStatement(
    lambda scope: scope.within(
        select(Table.__table__).where(Table.id == scope.value, Table.expires_at > func.now())
    ),
    setting=SESSION,
)

_ONE_AT_A_TIME: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_ACTOR: Final = select(func.coalesce(func.current_setting(ACTOR, True), ""))
_ACT_AS: Final = text("SELECT set_config(:name, :actor, true)")


class SessionLookup:
    """Finds one session or link by its id, before the visitor is authenticated."""

    def __init__(self, statements: Statements) -> None:
        """The setting `app.dashboard_session` of `statements` is the id."""
        self._statements = statements

    async def find(self) -> StoredSession | None:
        """Returns a session or link; `None` also for an expired one."""
        rows = await self._statements.rows(_FIND, {})
        return _to_session(rows[0]) if rows else None


class SessionStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def insert(self, stored: StoredSession) -> None:
        """Stores a session or link. Ends the oldest of its kind and key beyond `MAX_SESSIONS`,
        without an actor, so that the end of one is not a logout.
        """
        await self._session.execute(_ONE_AT_A_TIME, {"name": f"sessions/{stored.key_id}"})
        await self._session.execute(
            insert(Table).values(
                id=stored.id,
                kind=stored.kind.value,
                project_id=stored.project_id,
                organization_id=stored.organization_id,
                key_id=stored.key_id,
                created_at=func.clock_timestamp(),
                expires_at=moment(stored.expires_at),
            )
        )
        too_many = (
            select(Table.id)
            .where(Table.key_id == stored.key_id, Table.kind == stored.kind.value)
            .order_by(Table.created_at.desc(), Table.id)
            .offset(MAX_SESSIONS)
        )
        if ended := (await self._session.scalars(too_many)).all():
            await self._remove_without_actor(ended)

    async def _remove_without_actor(self, session_ids: Sequence[str]) -> None:
        actor = await self._session.scalar(_ACTOR)
        await self._session.execute(_ACT_AS, {"name": ACTOR, "actor": ""})
        await self._session.execute(delete(Table).where(Table.id.in_(session_ids)))
        await self._session.execute(_ACT_AS, {"name": ACTOR, "actor": actor})

    async def remove(self, session_id: str) -> bool:
        """Removes a session or link. Returns False if it was already removed: only one of several
        callers gets True.
        """
        removed = await self._session.scalars(
            delete(Table).where(Table.id == session_id).returning(Table.id)
        )
        return removed.first() is not None


def _to_session(row: Any) -> StoredSession:
    return StoredSession(
        id=row.id,
        kind=SessionKind(row.kind),
        project_id=row.project_id,
        key_id=row.key_id,
        expires_at=unix(row.expires_at),
        organization_id=row.organization_id,
    )
