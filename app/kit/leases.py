"""Virtual times of organizations in each queue of leased rows; see `app.kit.queues`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import (
    BigInteger,
    ForeignKeyConstraint,
    Index,
    SelectBase,
    TextClause,
    and_,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql.elements import ColumnElement

from app.kit.errors import LeaseLost
from app.kit.sql import Base, Id, Now, Timestamp


class OrganizationVirtualTimeTable(Base):
    __tablename__ = "organization_virtual_times"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        Index(None, "queue", "virtual_time"),
    )

    queue: Mapped[Id]
    """The table whose rows wait."""
    organization_id: Mapped[Id]
    virtual_time: Mapped[float]
    """The organization's virtual time at its last claim."""
    project_virtual_time: Mapped[float]
    """The virtual time that the claimed row's project had among the organization's projects."""


class FencedRow:
    """The lease: the number of the newest claim, and the end of its time."""

    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Rises with every claim; a write that carries a lower one is refused."""
    lease_until: Mapped[Timestamp | None]
    """The end of the lease on the database's clock; the row can be claimed once it has passed."""


class LeasedRow(FencedRow):
    """A tenant's row that workers may lease in some of its states."""

    id: Mapped[str]
    project_id: Mapped[str]
    status: Mapped[str]
    created_at: Mapped[Now]


class QueuedRow(LeasedRow):
    """A row that waits in a queue and is claimed a limited number of times; see
    `app.kit.queues`.
    """

    attempts: Mapped[int] = mapped_column(server_default="0")
    """Claims since the last progress."""
    lease_owner: Mapped[str | None]
    """Host, process and claim that took the lease last."""
    dispatched_at: Mapped[Timestamp | None]
    """Time of the last notification that the sweeper sent for the row."""
    queued_at: Mapped[Now]
    """Time at which the row last entered the queue. Rows of one project are claimed in this order,
    jobs of a higher priority first.
    """
    not_before: Mapped[Timestamp | None]
    """The row cannot be claimed before this time."""
    virtual_time: Mapped[float | None] = mapped_column("turn")
    """The project's virtual time among those of its organization, at the row's last claim."""


def queue_indexes(table: str, *first: TextClause, is_open: str) -> tuple[Index, ...]:
    """Returns the indexes that keep a claim's cost independent of the number of waiting rows.
    `first`: columns that come before the age in the order of a project's rows.
    """
    order: tuple[str | TextClause, ...] = ("project_id", *first, "queued_at", "created_at", "id")
    return (
        Index(
            f"ix_{table}_waiting",
            *order,
            postgresql_where=is_open,
        ),
        Index(f"ix_{table}_held", "lease_until", postgresql_where=is_open),
        Index(None, "turn"),
        Index(None, "project_id", "turn"),
    )


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
