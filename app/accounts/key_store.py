"""API keys as rows."""

import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, func, insert, or_, select, text, update
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.accounts import (
    MAX_SESSIONS,
    USE_RESOLUTION_S,
    ApiKeyRow,
    KeyKind,
    SessionKind,
    StoredSession,
    named_scopes,
)
from app.accounts.tables import ApiKeyTable as Table
from app.accounts.tables import DashboardSessionTable as TableSessions
from app.kit.callers import Scope
from app.kit.errors import NotFound
from app.kit.sql import (
    ACTOR,
    Keyset,
    PreparedStatement,
    SessionRows,
    Statements,
    from_row,
    moment,
    moment_or_none,
)

KEY_ID: Final = "app.key_id"
_FIND: Final = PreparedStatement(
    lambda scope: scope.within(select(Table.__table__).where(Table.key_id == scope.value)),
    setting=KEY_ID,
)


class KeyLookup:
    """Finds one key by its look-up part, before the caller is authenticated."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def find(self) -> ApiKeyRow | None:
        rows = await self._statements.rows(_FIND, {})
        return to_key(rows[0]) if rows else None


class KeyStore(SessionRows):
    async def insert(self, key: ApiKeyRow) -> None:
        await self._session.execute(
            insert(Table).values(
                id=key.id,
                organization_id=key.organization_id,
                project_id=key.project_id,
                kind=key.kind.value,
                name=key.name,
                key_id=key.key_id,
                secret_hmac=key.secret_hmac,
                last4=key.last4,
                expires_at=moment_or_none(key.expires_at),
                service_account_id=key.service_account_id,
                scopes=key.scopes,
            )
        )

    async def get(self, organization_id: str, project_id: str | None, row_id: str) -> ApiKeyRow:
        row = await self._session.scalar(
            select(Table)
            .where(*_not_revoked(organization_id, project_id), Table.id == row_id)
            .execution_options(populate_existing=True)
        )
        if row is None:
            raise NotFound(f"No such API key: {row_id}")
        return to_key(row)

    async def names(self, project_id: str, row_ids: Collection[str]) -> dict[str, str]:
        query = select(Table.id, Table.name).where(
            Table.project_id == project_id, Table.id.in_(row_ids)
        )
        return {row.id: row.name for row in await self._session.execute(query)}

    async def page(
        self,
        organization_id: str,
        project_id: str | None,
        *,
        after: str | None,
        limit: int,
        descending: bool = False,
    ) -> tuple[list[ApiKeyRow], bool]:
        query = select(Table).where(*_not_revoked(organization_id, project_id))
        # A page may begin after a key that was deleted in the meantime.
        page, more = await Keyset((Table.created_at, Table.id), descending=descending).page(
            self._session,
            query,
            after=after,
            cursor=[*_of(organization_id, project_id), Table.id == after],
            limit=limit,
        )
        return [to_key(row) for row in page], more

    async def lock_admin_keys(self, organization_id: str) -> Sequence[str]:
        """Returns the ids of the valid admin keys, which no other transaction deletes meanwhile."""
        rows = await self._session.scalars(
            select(Table.id)
            .where(
                *_not_revoked(organization_id, None),
                or_(Table.expires_at.is_(None), Table.expires_at > func.now()),
            )
            .order_by(Table.id)
            .with_for_update()
        )
        return rows.all()

    async def revoke(self, row_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == row_id).values(revoked_at=func.now())
        )

    async def revoke_of_account(self, project_id: str, account_id: str) -> None:
        await self._session.execute(
            update(Table)
            .where(
                Table.project_id == project_id,
                Table.service_account_id == account_id,
                Table.revoked_at.is_(None),
            )
            .values(revoked_at=func.now())
        )

    async def set_expiry(self, row_id: str, expires_at: int) -> None:
        await self._session.execute(
            update(Table).where(Table.id == row_id).values(expires_at=moment(expires_at))
        )

    async def set_scopes(self, row_id: str, scopes: Sequence[Scope] | None) -> None:
        await self._session.execute(update(Table).where(Table.id == row_id).values(scopes=scopes))

    async def end(self, key: ApiKeyRow, *, in_s: int) -> None:
        """Lets a key expire in so many seconds unless it does so earlier; with 0 deletes it."""
        if not in_s:
            await self.revoke(key.id)
            return
        last = int(time.time()) + in_s
        if key.expires_at is None or key.expires_at > last:
            await self.set_expiry(key.id, last)

    async def mark_project_archived(self, organization_id: str, project_id: str) -> None:
        await self._session.execute(
            update(Table)
            .where(*_of(organization_id, project_id))
            .values(project_archived_at=func.now())
        )

    async def set_digest(self, row_id: str, secret_hmac: bytes) -> None:
        await self._session.execute(
            update(Table).where(Table.id == row_id).values(secret_hmac=secret_hmac)
        )

    async def mark_used(self, row_id: str) -> None:
        """Stores the time of use, unless one of the last minute or a lock is there."""
        stale = or_(
            Table.last_used_at.is_(None),
            Table.last_used_at < func.now() - timedelta(seconds=USE_RESOLUTION_S),
        )
        free = select(Table.id).where(Table.id == row_id, stale).with_for_update(skip_locked=True)
        await self._session.execute(
            update(Table).where(Table.id.in_(free)).values(last_used_at=func.now())
        )


def _of(organization_id: str, project_id: str | None) -> tuple[ColumnElement[bool], ...]:
    """Returns the condition for a project's keys, or without one for the admin keys."""
    project = Table.project_id.is_(None) if project_id is None else Table.project_id == project_id
    return (Table.organization_id == organization_id, project)


def _not_revoked(organization_id: str, project_id: str | None) -> tuple[ColumnElement[bool], ...]:
    return (*_of(organization_id, project_id), Table.revoked_at.is_(None))


def to_key(row: Any) -> ApiKeyRow:
    return from_row(ApiKeyRow, row, kind=KeyKind(row.kind), scopes=named_scopes(row.scopes))


SESSION: Final = "app.dashboard_session"
_FIND_SESSIONS: Final = PreparedStatement(
    lambda scope: scope.within(
        select(TableSessions.__table__).where(
            TableSessions.id == scope.value, TableSessions.expires_at > func.now()
        )
    ),
    setting=SESSION,
)

_ONE_AT_A_TIME: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
_ACTOR: Final = select(func.coalesce(func.current_setting(ACTOR, True), ""))
_ACT_AS: Final = text("SELECT set_config(:name, :actor, true)")


class SessionLookup:
    """Finds one session or link by its id, before the visitor is authenticated."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def find(self) -> StoredSession | None:
        rows = await self._statements.rows(_FIND_SESSIONS, {})
        return from_row(StoredSession, rows[0], kind=SessionKind(rows[0].kind)) if rows else None


class SessionStore(SessionRows):
    async def insert(self, stored: StoredSession) -> None:
        """Ends the oldest beyond `MAX_SESSIONS` without an actor: that end is no logout."""
        await self._session.execute(_ONE_AT_A_TIME, {"name": f"sessions/{stored.key_id}"})
        await self._session.execute(
            insert(TableSessions).values(
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
            select(TableSessions.id)
            .where(TableSessions.key_id == stored.key_id, TableSessions.kind == stored.kind.value)
            .order_by(TableSessions.created_at.desc(), TableSessions.id)
            .offset(MAX_SESSIONS)
        )
        if ended := (await self._session.scalars(too_many)).all():
            await self._remove_without_actor(ended)

    async def _remove_without_actor(self, session_ids: Sequence[str]) -> None:
        actor = await self._session.scalar(_ACTOR)
        await self._session.execute(_ACT_AS, {"name": ACTOR, "actor": ""})
        await self._session.execute(delete(TableSessions).where(TableSessions.id.in_(session_ids)))
        await self._session.execute(_ACT_AS, {"name": ACTOR, "actor": actor})

    async def remove(self, session_id: str) -> bool:
        removed = await self._session.scalars(
            delete(TableSessions).where(TableSessions.id == session_id).returning(TableSessions.id)
        )
        return removed.first() is not None
