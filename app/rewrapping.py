"""The sealed blobs of all tenants, for the one command that wraps them under a new key.

Only the tables' owner, the role of migrations, gets any row with the setting `app.rewrap`, which
only this module names.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import structlog
from sqlalchemy import Text, cast, func, literal, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.tables import ApiKeyTable
from app.database import Database
from app.evals.tables import EvalTable
from app.http.idempotency_store import StoredResponseTable
from app.jobs.tables import FineTuningJobTable
from app.kit.http import SEALED_RESPONSE
from app.kit.sealing import SecretBox, SecretsUnreadable
from app.kit.sql import Base, SessionRows
from app.kit.transactions import BaseUnitOfWork, of_session
from app.teaching.coach.tables import CoachSessionTable
from app.tools.registry import SEALED_VERSION
from app.tools.tables import RegisteredVersionTable
from app.webhooks.tables import WebhookEndpointTable

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed blobs. Its blobs are bound to the owner and to the id of their row."""

    noun: str
    table: type[Base]
    blob: InstrumentedAttribute[Any]
    key: tuple[InstrumentedAttribute[Any], ...]
    """The primary key; its first column is the owner."""
    row_id: ColumnElement[str]


def _by_id(
    noun: str,
    table: type[FineTuningJobTable | CoachSessionTable | EvalTable | WebhookEndpointTable],
) -> SealedColumn:
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


class SealedBlobs(SessionRows):
    async def others(
        self, column: SealedColumn, head: bytes, *, after: Key | None, limit: int
    ) -> Sequence[SealedRow]:
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
        """Replaces a blob unless it has changed meanwhile. Returns whether it was replaced."""
        condition = [part == value for part, value in zip(column.key, row.key, strict=True)]
        written = await self._session.execute(
            update(column.table)
            .where(*condition, column.blob == row.blob)
            .values({column.blob: blob})
            .returning(column.key[0])
        )
        return written.first() is not None

    async def count(self, column: SealedColumn, head: bytes) -> int:
        query = select(func.count()).where(func.substr(column.blob, 1, len(head)) == head)
        return int(await self._session.scalar(query) or 0)

    async def count_keys(self, head: bytes) -> tuple[int, int]:
        current = func.substr(ApiKeyTable.secret_hmac, 1, len(head)) == head
        query = select(func.count().filter(current), func.count().filter(~current)).where(
            ApiKeyTable.revoked_at.is_(None)
        )
        row = (await self._session.execute(query)).one()
        return int(row[0]), int(row[1])


class SealedUnitOfWork(BaseUnitOfWork):
    blobs = of_session(SealedBlobs)

    def __init__(self, database: Database) -> None:
        super().__init__(database.sessions, {"app.rewrap": "on", "lock_timeout": "5s"})


log = structlog.get_logger()

BATCH: Final = 200


@dataclass(slots=True)
class RewrapCounts:
    rewrapped: int = 0
    current: int = 0
    unreadable: int = 0
    """Blobs under a key that is not configured, or damaged ones."""


class RewrappingService:
    def __init__(self, database: Database, box: SecretBox, *, api_key_head: bytes) -> None:
        """`database` connects as the owner; `api_key_head` begins digests under the newest key."""
        self._database, self._box, self._api_key_head = database, box, api_key_head

    async def run(self, *, batch: int = BATCH) -> dict[str, Any]:
        """Returns counts by table, and of the API keys, which are re-hashed when they are used."""
        report: dict[str, Any] = {}
        for column in SEALED:
            done = await self._table(column, batch)
            log.info("rewrapped", table=column.noun, **asdict(done))
            report[column.noun] = asdict(done)
        async with SealedUnitOfWork(self._database) as unit:
            current, older = await unit.blobs.count_keys(self._api_key_head)
        report["api_keys"] = {"current": current, "older": older}
        return report

    async def _table(self, column: SealedColumn, batch: int) -> RewrapCounts:
        done, after, seen = RewrapCounts(), None, batch
        while seen == batch:
            seen, after = await self._batch(column, done, after=after, limit=batch)
        async with SealedUnitOfWork(self._database) as unit:
            done.current = await unit.blobs.count(column, self._box.head)
        return done

    async def _batch(
        self, column: SealedColumn, done: RewrapCounts, *, after: Key | None, limit: int
    ) -> tuple[int, Key | None]:
        async with SealedUnitOfWork(self._database) as unit:
            rows = await unit.blobs.others(column, self._box.head, after=after, limit=limit)
            for row in rows:
                try:
                    blob = self._box.rewrap(row.blob, project_id=row.owner_id, row_id=row.row_id)
                except SecretsUnreadable as error:
                    done.unreadable += 1
                    owner = row.owner_id
                    log.warning("not rewrapped", table=column.noun, owner=owner, error=str(error))
                    continue
                done.rewrapped += await unit.blobs.replace(column, row, blob)
        return len(rows), rows[-1].key if rows else after
