"""Leased rows that wait for a worker: those that need a notification, and those that may get none.

Owns the condition under which a row can be claimed. Must not know the order of claims, nor the
meaning of the rows: a subclass names its table, and the end of a row that was claimed too often.
"""

from datetime import timedelta
from typing import ClassVar

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from app.store.leases.leases import Lease, LeasedRows, is_unleased
from app.store.schema.leased import QueuedRow


class WaitingRows(LeasedRows):
    table: ClassVar[type[QueuedRow]]

    async def due(self, limit: int, resend_after_s: float) -> list[str]:
        """Returns the ids of rows that wait for a worker and had no recent notification, and stores
        the time of a new one.
        """
        table = self.table
        unsent = or_(
            table.dispatched_at.is_(None),
            table.dispatched_at < func.now() - timedelta(seconds=resend_after_s),
            # The lease ended after the last notification: its worker is dead.
            table.lease_until > table.dispatched_at,
        )
        due_ids = (
            select(table.id)
            .where(self._is_open(), is_unleased(table), unsent, self._may_be_claimed_now())
            .order_by(table.created_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        ids = list(await self._session.scalars(due_ids))
        if ids:
            await self._session.execute(
                update(table).where(table.id.in_(ids)).values(dispatched_at=func.now())
            )
        return ids

    async def waiting(self) -> int:
        """Counts the rows that wait for a worker."""
        table = self.table
        count = select(func.count()).select_from(table).where(self._is_open(), is_unleased(table))
        return await self._session.scalar(count) or 0

    async def exhausted(self, max_attempts: int) -> list[Lease]:
        """Returns leases of rows that have used up their attempts, and locks the rows."""
        table = self.table
        rows = await self._session.execute(
            select(table.id, table.project_id, table.fence, table.attempts)
            .where(self._is_open(), is_unleased(table), table.attempts >= max_attempts)
            .with_for_update(skip_locked=True)
        )
        return [Lease(row.id, row.project_id, row.fence, row.attempts) for row in rows]

    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        """Ends an exhausted row with a reason that its tenant can read. A row of a kind that
        expires does so after `kept_for`.
        """
        raise NotImplementedError

    def _is_claimable(self, max_attempts: int) -> ColumnElement[bool]:
        return and_(
            self.table.attempts < max_attempts,
            self._is_open(),
            is_unleased(self.table),
            self._may_be_claimed_now(),
        )

    def _may_be_claimed_now(self) -> ColumnElement[bool]:
        return or_(self.table.not_before.is_(None), self.table.not_before <= func.now())
