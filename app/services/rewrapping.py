"""Wraps all sealed blobs under the newest secret key, while the service runs.

A batch is one transaction. A blob that changed meanwhile is skipped, because it was written under
the newest key. After an interruption, a new run only processes the remaining blobs.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import structlog

from app.gateways.secrets import SecretBox, SecretsUnreadable
from app.store.database import Database
from app.store.sealed import SEALED, Key, SealedColumn, SealedUnitOfWork

log = structlog.get_logger()

BATCH: Final = 200


@dataclass(slots=True)
class RewrapCounts:
    """Counts of the blobs of one table."""

    rewrapped: int = 0
    current: int = 0
    """Number of blobs under the newest key now."""
    unreadable: int = 0
    """Blobs under a key that is not configured, or damaged ones."""


class RewrappingService:
    def __init__(self, database: Database, box: SecretBox, *, api_key_head: bytes) -> None:
        """`database` connects as the tables' owner. `api_key_head`: the beginning of an API key's
        stored digest under the newest key.
        """
        self._database = database
        self._box = box
        self._api_key_head = api_key_head

    async def run(self, *, batch: int = BATCH) -> dict[str, Any]:
        """Returns the report: counts for each table and for the API keys, which are re-hashed under
        the newest secret key only when they are used.
        """
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
        done, after = RewrapCounts(), None
        while True:
            seen, after = await self._batch(column, done, after=after, limit=batch)
            if seen < batch:
                break
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
