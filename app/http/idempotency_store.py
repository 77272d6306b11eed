"""Responses stored under an Idempotency-Key."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Index, LargeBinary, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.http import HttpResponse
from app.kit.sql import Base, Now


class StoredResponseTable(Base):
    __tablename__ = "stored_responses"
    __table_args__ = (Index(None, "created_at"),)

    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int | None]
    """`NULL` while the first request runs, on a path that creates no row."""
    content_type: Mapped[str | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[Now]


LEASE_S = 600.0
"""Seconds after which a request that marked its key and stored no response counts as crashed."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    fingerprint: bytes
    response: HttpResponse | None
    """`None` while the first request runs."""


class IdempotencyStore:
    def __init__(self, session: AsyncSession, scope: str) -> None:
        self._session, self._scope = session, scope

    async def try_lock(self, key: str) -> bool:
        digest = hashlib.sha256(f"{self._scope}\x1f{key}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        locked = await self._session.scalar(
            text("SELECT pg_try_advisory_xact_lock(:number)"), {"number": number}
        )
        return bool(locked)

    async def find(self, key: str) -> StoredResponse | None:
        """Returns the stored response or mark of a key. Ignores the mark of a crashed request."""
        query = select(StoredResponseTable).where(
            StoredResponseTable.scope == self._scope,
            StoredResponseTable.key == key,
            StoredResponseTable.status.is_not(None)
            | (StoredResponseTable.created_at > func.now() - timedelta(seconds=LEASE_S)),
        )
        row = await self._session.scalar(query)
        if row is None:
            return None
        response = None
        if row.status is not None:
            response = HttpResponse(row.status, row.content_type or "", row.body or b"")
        return StoredResponse(bytes(row.fingerprint), response)

    async def put(self, key: str, fingerprint: bytes, response: HttpResponse | None) -> None:
        values = {
            "fingerprint": fingerprint,
            "status": None if response is None else response.status,
            "content_type": None if response is None else response.content_type,
            "body": None if response is None else response.body,
            "created_at": func.now(),
        }
        statement = insert(StoredResponseTable).values(scope=self._scope, key=key, **values)
        await self._session.execute(
            statement.on_conflict_do_update(index_elements=["scope", "key"], set_=values)
        )

    async def forget(self, key: str) -> None:
        await self._session.execute(
            delete(StoredResponseTable).where(
                StoredResponseTable.scope == self._scope, StoredResponseTable.key == key
            )
        )
