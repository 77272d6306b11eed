"""API keys as rows."""

from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg.rows import namedtuple_row
from sqlalchemy import func, insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.keys import ApiKeyRow
from app.domain.tenants import KeyKind
from app.store.schema.keys import ApiKeyTable as Table
from app.store.times import moment_or_none, unix, unix_or_none

# One statement, so one round trip: the inner query cannot run before the setting that opens the row
# to it, because it waits for its value. The setting ends with the statement.
_LOOK_UP = """
    WITH opened AS MATERIALIZED (SELECT set_config('app.key_id', %s, true) AS key_id)
    SELECT found.* FROM opened CROSS JOIN LATERAL (
        SELECT * FROM api_keys WHERE api_keys.key_id = opened.key_id OFFSET 0
    ) AS found
"""


async def find_key(driver: DriverConnection[Any], key_id: str) -> ApiKeyRow | None:
    """The row of a key's look-up part, on a connection outside of a transaction."""
    async with driver.cursor(row_factory=namedtuple_row) as cursor:
        await cursor.execute(_LOOK_UP, (key_id,))
        row = await cursor.fetchone()
    return None if row is None else _to_key(row)


class KeyStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

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
            )
        )

    async def mark_revoked(self, row_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == row_id).values(revoked_at=func.now())
        )


def _to_key(row: Any) -> ApiKeyRow:
    return ApiKeyRow(
        id=row.id,
        organization_id=row.organization_id,
        project_id=row.project_id,
        kind=KeyKind(row.kind),
        name=row.name,
        key_id=row.key_id,
        secret_hmac=row.secret_hmac,
        last4=row.last4,
        created_at=unix(row.created_at),
        expires_at=unix_or_none(row.expires_at),
        revoked_at=unix_or_none(row.revoked_at),
    )
