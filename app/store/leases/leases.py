"""Leases: one worker at a time works on a row, and only the newest claim may write.

Owns the columns of a claim, the lock at a fence, the renewal, and the claim of many chosen rows,
for every table that carries the mixins of `app.store.schema.leases`. Promises: a claim raises the
row's fence; every check of a fence and of a lease's end happens in Postgres, on its clock; no two
workers get the same fence. Must not know the meaning of the rows or the order of their claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import SelectBase, and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.errors import LeaseLost
from app.store.schema.leases import FencedRow, LeasedRow

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
    """Returns the condition that the row is still at the fence of the lease and in one of
    `states`.
    """
    return and_(
        table.project_id == lease.project_id,
        table.id == lease.id,
        table.fence == lease.fence,
        table.status.in_(states),
    )


def is_unleased(table: type[FencedRow]) -> ColumnElement[bool]:
    """Returns the condition that the row is not leased at this moment."""
    return or_(table.lease_until.is_(None), table.lease_until < func.now())


def new_claim(table: type[FencedRow], lease_s: float) -> dict[str, ColumnElement[Any]]:
    """Returns the columns that every claim sets: a higher fence, and the end of the new lease."""
    return {"fence": table.fence + 1, "lease_until": _from_now(lease_s)}


def ended_lease() -> dict[str, ColumnElement[Any]]:
    """Returns the columns that end a lease, so that the row can be claimed at once."""
    return {"lease_until": func.now() + _ENDED}


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
    """Leases of one table. Needs a transaction that sees the rows that are claimed: those of all
    tenants, or of the tenant that claims its own.
    """

    table: ClassVar[type[LeasedRow]]
    open_states: ClassVar[tuple[str, ...]]
    """States in which a row may be worked on."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def changes_of_claim(self) -> Mapping[str, Any]:
        """Returns the columns that a claim sets besides those of lease and queue."""
        return {}

    async def claim_chosen(self, chosen: SelectBase, lease_s: float) -> list[Lease]:
        """Claims every row that `chosen` selects by `project_id` and `id`, and skips rows that
        another transaction has locked, or has claimed or closed since the choice. Counts no
        attempts.
        """
        table, chosen_rows = self.table, chosen.cte("chosen")
        locked = (
            select(table.project_id, table.id)
            .join(
                chosen_rows,
                and_(table.project_id == chosen_rows.c.project_id, table.id == chosen_rows.c.id),
            )
            .where(self._is_open(), is_unleased(table))
            .with_for_update(of=table, skip_locked=True)
            .cte("locked")
        )
        rows = await self._session.execute(
            update(table)
            .where(table.project_id == locked.c.project_id, table.id == locked.c.id)
            .values(**new_claim(table, lease_s), **self.changes_of_claim())
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


def _from_now(lease_s: float) -> ColumnElement[Any]:
    return func.now() + timedelta(seconds=lease_s)
