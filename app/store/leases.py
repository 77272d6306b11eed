"""Leases: one worker at a time works on a row, and only the newest claim may write.

Owns the SQL of claim, renew, release, due and exhausted for every table that carries the mixins of
`app.store.schema.leased`. Promises: a claim raises the row's fence; every check of a fence and of a
lease's end happens in Postgres, on its clock; no two workers get the same fence. Must not know the
meaning of the rows: a subclass names its table, the states in which a row may be worked on, and the
end of a row that was claimed too often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import TextualSelect, and_, func, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.errors import LeaseLost
from app.store.schema.leased import ClaimableRow, FencedRow, LeasedRow

_ENDED: Final = timedelta(seconds=-1)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one row, until the lease ends or a newer claim raises the fence."""

    id: str
    project_id: str
    fence: int
    attempts: int = 0
    """Claims since the last progress, including this one; 0 where they are not counted."""


def is_held(table: type[LeasedRow], lease: Lease, *, states: Sequence[str]) -> ColumnElement[bool]:
    """Condition: the row is still at the fence of the lease and in one of `states`."""
    return and_(
        table.project_id == lease.project_id,
        table.id == lease.id,
        table.fence == lease.fence,
        table.status.in_(states),
    )


def is_unleased(table: type[FencedRow]) -> ColumnElement[bool]:
    """Condition: the row is not leased at this moment."""
    return or_(table.lease_until.is_(None), table.lease_until < func.now())


def new_claim(table: type[FencedRow], lease_s: float) -> dict[str, ColumnElement[Any]]:
    """Returns the columns that every claim sets: a higher fence, and the end of the new lease."""
    return {"fence": table.fence + 1, "lease_until": _from_now(lease_s)}


async def lock_held(
    session: AsyncSession, table: type[LeasedRow], lease: Lease, *, states: Sequence[str]
) -> None:
    """Locks the row at the fence of the lease until the transaction ends, so that no newer claim
    is made before the commit. Raises `LeaseLost`.
    """
    row_id = await session.scalar(
        select(table.id).where(is_held(table, lease, states=states)).with_for_update(key_share=True)
    )
    if row_id is None:
        raise lease_lost(lease)


def lease_lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"{lease.id} is no longer held at fence {lease.fence}")


class LeasedRows:
    """Leases of one table. Needs a transaction that sees the rows of all tenants."""

    table: ClassVar[type[LeasedRow]]
    open_states: ClassVar[tuple[str, ...]]
    """States in which a row may be worked on."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim_chosen(self, chosen: TextualSelect, lease_s: float) -> list[Lease]:
        """Claims every row that `chosen` selects by `project_id` and `id`, and skips rows that
        another transaction has locked. Counts no attempts.
        """
        table, chosen_rows = self.table, chosen.cte("chosen")
        locked = (
            select(table.project_id, table.id)
            .join(
                chosen_rows,
                and_(table.project_id == chosen_rows.c.project_id, table.id == chosen_rows.c.id),
            )
            .with_for_update(of=table, skip_locked=True)
            .cte("locked")
        )
        rows = await self._session.execute(
            update(table)
            .where(table.project_id == locked.c.project_id, table.id == locked.c.id)
            .values(**new_claim(table, lease_s))
            .returning(table.id, table.project_id, table.fence)
            .execution_options(synchronize_session=False)
        )
        return [Lease(row.id, row.project_id, row.fence) for row in rows]

    async def renew(self, lease: Lease, lease_s: float) -> None:
        """Extends the lease. Raises `LeaseLost` when the row has ended, was deleted, or was claimed
        again.
        """
        row_id = await self._session.scalar(
            update(self.table)
            .where(is_held(self.table, lease, states=self.open_states))
            .values(lease_until=_from_now(lease_s))
            .returning(self.table.id)
        )
        if row_id is None:
            raise lease_lost(lease)

    def _is_open(self) -> ColumnElement[bool]:
        return self.table.status.in_(self.open_states)


class ClaimableRows(LeasedRows):
    """Leases of one table whose rows are claimed by id, a limited number of times."""

    table: ClassVar[type[ClaimableRow]]

    async def claim(
        self, row_id: str, owner: str, lease_s: float, *, max_attempts: int
    ) -> Lease | None:
        """Claims the row with a new fence. Returns `None` when another worker has the lease, or
        when the row has ended or used up its attempts.
        """
        return await self._claim(row_id, owner, lease_s, max_attempts=max_attempts, changes={})

    async def _claim(
        self,
        row_id: str,
        owner: str,
        lease_s: float,
        *,
        max_attempts: int,
        changes: Mapping[str, Any],
    ) -> Lease | None:
        table = self.table
        row = (
            await self._session.execute(
                update(table)
                .where(table.id == row_id, self._is_claimable(max_attempts))
                .values(
                    **new_claim(table, lease_s),
                    attempts=table.attempts + 1,
                    lease_owner=owner,
                    **self.changes_of_claim(),
                    **changes,
                )
                .returning(table.id, table.project_id, table.fence, table.attempts)
            )
        ).one_or_none()
        return None if row is None else Lease(row.id, row.project_id, row.fence, row.attempts)

    def _is_claimable(self, max_attempts: int) -> ColumnElement[bool]:
        return and_(self.table.attempts < max_attempts, self._is_open(), is_unleased(self.table))

    def changes_of_claim(self) -> Mapping[str, Any]:
        """Returns the columns that a claim sets besides those of the lease."""
        return {}

    async def release(self, lease: Lease, *, orderly: bool, back_off: bool) -> int | None:
        """Ends the lease, so that the row can be claimed at once. An `orderly` stop counts as no
        attempt. With `back_off` the sweeper waits before it sends a notification for the row.

        Returns the attempts that count so far, or `None` when the lease was lost before.
        """
        table = self.table
        changes: dict[str, Any] = {"lease_until": func.now() + _ENDED}
        if back_off:
            changes["dispatched_at"] = func.now()
        if orderly:
            changes["attempts"] = func.greatest(table.attempts - 1, 0)
        return await self._session.scalar(
            update(table)
            .where(is_held(table, lease, states=self.open_states))
            .values(**changes)
            .returning(table.attempts)
        )

    async def due(self, limit: int, resend_after_s: float) -> list[str]:
        """Returns the ids of rows that wait for a worker and had no notification lately, and stores
        that one is sent now.
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
            .where(self._is_open(), is_unleased(table), unsent, self._is_due())
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

    def _is_due(self) -> ColumnElement[bool]:
        """Condition: the row need not wait any longer; overridden where a row may have to."""
        return true()

    async def exhausted(self, max_attempts: int) -> list[Lease]:
        """Returns leases of rows that have used up their attempts, and locks the rows."""
        table = self.table
        rows = await self._session.execute(
            select(table.id, table.project_id, table.fence, table.attempts)
            .where(self._is_open(), is_unleased(table), table.attempts >= max_attempts)
            .with_for_update(skip_locked=True)
        )
        return [Lease(row.id, row.project_id, row.fence, row.attempts) for row in rows]

    async def fail(self, lease: Lease, message: str) -> None:
        """Ends an exhausted row with a reason that its tenant can read."""
        raise NotImplementedError

    async def note(self, lease: Lease, reason: str, *, attempts: int, limit: int) -> None:
        """Tells the row's tenant why an attempt was ended. Rows without events have no place for
        it; the log has it for every kind.
        """

    async def pause_requested(self, lease: Lease) -> bool:
        """Returns True once the tenant has asked the holder of the lease to pause the row."""
        del lease
        return False

    async def pause(self, lease: Lease, reason: str) -> None:
        """Pauses the row for a holder that did not. Raises `LeaseLost`."""
        raise NotImplementedError


def _from_now(lease_s: float) -> ColumnElement[Any]:
    return func.now() + timedelta(seconds=lease_s)
