"""The sealed blobs of all tenants, for the one command that wraps them under a new key.

Only the tables' owner, the role of migrations, gets any row with the setting `app.rewrap`: neither
the API nor a worker can read other tenants' blobs with it. This is the only module that names the
setting, and `app.services.rewrapping` alone may import it. Must not know how a blob is opened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Text, cast, func, literal, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.domain.http.idempotency import SEALED_RESPONSE
from app.domain.registry.registered_objects import SEALED_VERSION
from app.store.database import Database
from app.store.schema.base import Base
from app.store.schema.coach import CoachSessionTable
from app.store.schema.evals import EvalTable
from app.store.schema.idempotency import StoredResponseTable
from app.store.schema.jobs import FineTuningJobTable
from app.store.schema.keys import ApiKeyTable
from app.store.schema.registry import RegisteredVersionTable
from app.store.schema.webhooks import WebhookEndpointTable
from app.store.transactions.base_unit import BaseUnitOfWork

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed blobs. Its blobs are bound to the owner and to the id of their row."""

    noun: str
    """Name of the rows in a report."""
    table: type[Base]
    blob: InstrumentedAttribute[Any]
    key: tuple[InstrumentedAttribute[Any], ...]
    """The primary key; its first column is the owner."""
    row_id: ColumnElement[str]


def _by_id(
    noun: str,
    table: type[FineTuningJobTable | CoachSessionTable | EvalTable | WebhookEndpointTable],
) -> SealedColumn:
    """Returns the secrets of a table whose rows have a project and an id."""
    return SealedColumn(
        noun, table, table.secrets, (table.project_id, table.id), cast(table.id, Text)
    )


SEALED: Final = (
    _by_id("jobs", FineTuningJobTable),
    _by_id("evals", EvalTable),
    _by_id("coach_sessions", CoachSessionTable),
    SealedColumn(
        "registered_versions",
        RegisteredVersionTable,
        RegisteredVersionTable.secrets,
        (
            RegisteredVersionTable.project_id,
            RegisteredVersionTable.object_id,
            RegisteredVersionTable.version,
        ),
        RegisteredVersionTable.object_id
        + literal(SEALED_VERSION)
        + cast(RegisteredVersionTable.version, Text),
    ),
    _by_id("webhook_endpoints", WebhookEndpointTable),
    SealedColumn(
        "stored_responses",
        StoredResponseTable,
        StoredResponseTable.body,
        (StoredResponseTable.scope, StoredResponseTable.key),
        literal(SEALED_RESPONSE) + StoredResponseTable.key,
    ),
)


@dataclass(frozen=True, slots=True)
class SealedRow:
    key: Key
    row_id: str
    blob: bytes

    @property
    def owner_id(self) -> str:
        return str(self.key[0])


class SealedUnitOfWork(BaseUnitOfWork):
    """A transaction of the tables' owner that sees the sealed blobs of all tenants."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.sessions, {"app.rewrap": "on", "lock_timeout": "5s"})

    @override
    async def _open(self, session: AsyncSession) -> None:
        self.blobs = SealedBlobs(session)


class SealedBlobs:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def others(
        self, column: SealedColumn, head: bytes, *, after: Key | None, limit: int
    ) -> Sequence[SealedRow]:
        """Returns blobs that do not begin with `head`, in the order of their keys."""
        query = (
            select(*column.key, column.row_id.label("row_id"), column.blob.label("blob"))
            .where(column.blob.is_not(None), func.substr(column.blob, 1, len(head)) != head)
            .order_by(*column.key)
            .limit(limit)
        )
        if after is not None:
            query = query.where(tuple_(*column.key) > after)
        return [
            SealedRow(tuple(row[: len(column.key)]), row.row_id, bytes(row.blob))
            for row in await self._session.execute(query)
        ]

    async def replace(self, column: SealedColumn, row: SealedRow, blob: bytes) -> bool:
        """Replaces a blob unless it has changed or was removed meanwhile. Returns whether it was
        replaced.
        """
        condition = [part == value for part, value in zip(column.key, row.key, strict=True)]
        written = await self._session.execute(
            update(column.table)
            .where(*condition, column.blob == row.blob)
            .values({column.blob: blob})
            .returning(column.key[0])
        )
        return written.first() is not None

    async def count(self, column: SealedColumn, head: bytes) -> int:
        """Returns the number of blobs that begin with `head`."""
        query = select(func.count()).where(func.substr(column.blob, 1, len(head)) == head)
        return int(await self._session.scalar(query) or 0)

    async def count_keys(self, head: bytes) -> tuple[int, int]:
        """Returns the numbers of API keys in use whose digest begins with `head`, and of the
        others.
        """
        current = func.substr(ApiKeyTable.secret_hmac, 1, len(head)) == head
        query = select(func.count().filter(current), func.count().filter(~current)).where(
            ApiKeyTable.revoked_at.is_(None)
        )
        row = (await self._session.execute(query)).one()
        return int(row[0]), int(row[1])
