"""Leases of rows, and queues of them: a worker claims the row of the organization and project that
is next.

The order is an SQL function, `queue_of_<table>`, and `queue_places` numbers the positions
that users see by the same order.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import (
    BigInteger,
    Float,
    ForeignKeyConstraint,
    Index,
    Select,
    SelectBase,
    Text,
    TextClause,
    and_,
    case,
    column,
    func,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, aliased, mapped_column
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.tables import OrganizationTable, ProjectTable
from app.kit.errors import LeaseLost
from app.kit.sql import Base, Id, Now, SessionRows, Timestamp


class OrganizationVirtualTimeTable(Base):
    __tablename__ = "organization_virtual_times"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        Index(None, "queue", "virtual_time"),
    )

    queue: Mapped[Id]
    organization_id: Mapped[Id]
    virtual_time: Mapped[float]
    """The organization's virtual time at its last claim."""
    project_virtual_time: Mapped[float]
    """The virtual time that the claimed row's project had among the organization's projects."""


class FencedRow:
    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Rises with every claim; a write that carries a lower one is refused."""
    lease_until: Mapped[Timestamp | None]
    """The end of the lease on the database's clock; the row can be claimed once it has passed."""


class LeasedRow(FencedRow):
    id: Mapped[str]
    project_id: Mapped[str]
    status: Mapped[str]
    created_at: Mapped[Now]


class QueuedRow(LeasedRow):
    attempts: Mapped[int] = mapped_column(server_default="0")
    """Claims since the last progress."""
    lease_owner: Mapped[str | None]
    dispatched_at: Mapped[Timestamp | None]
    queued_at: Mapped[Now]
    """Rows of a project are claimed in this order, jobs of a higher priority first."""
    not_before: Mapped[Timestamp | None]
    virtual_time: Mapped[float | None] = mapped_column("turn")
    """The project's virtual time among those of its organization, at the row's last claim."""


def queue_indexes(table: str, *first: TextClause, is_open: str) -> tuple[Index, ...]:
    """Returns the indexes that keep a claim's cost constant. `first`: columns before the age."""
    order: tuple[str | TextClause, ...] = ("project_id", *first, "queued_at", "created_at", "id")
    return (
        Index(f"ix_{table}_waiting", *order, postgresql_where=is_open),
        Index(f"ix_{table}_held", "lease_until", postgresql_where=is_open),
        Index(None, "turn"),
        Index(None, "project_id", "turn"),
    )


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one row, until the lease ends or a newer claim raises the fence."""

    id: str
    project_id: str
    fence: int
    attempts: int = 0
    """Claims since the last progress, including this one; 0 where they are not counted."""


def is_held(table: type[LeasedRow], lease: Lease, *, states: Sequence[str]) -> ColumnElement[bool]:
    return and_(
        table.project_id == lease.project_id,
        table.id == lease.id,
        table.fence == lease.fence,
        table.status.in_(states),
    )


def is_unleased(table: type[FencedRow]) -> ColumnElement[bool]:
    return or_(table.lease_until.is_(None), table.lease_until < func.now())


def new_claim(table: type[FencedRow], lease_s: float) -> dict[str, ColumnElement[Any]]:
    return {"fence": table.fence + 1, "lease_until": _from_now(lease_s)}


def ended_lease() -> dict[str, ColumnElement[Any]]:
    return {"lease_until": _from_now(-1)}


async def lock_held(
    session: AsyncSession, table: type[LeasedRow], lease: Lease, *, states: Sequence[str]
) -> None:
    """Locks the row, so that no newer claim is made before the commit. Raises `LeaseLost`."""
    row_id = await session.scalar(
        select(table.id).where(is_held(table, lease, states=states)).with_for_update(key_share=True)
    )
    if row_id is None:
        raise lease_lost(lease)


def lease_lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"{lease.id} is no longer held at fence {lease.fence}")


class LeasedRows(SessionRows):
    """Leases of one table, in a transaction that sees the rows that are claimed."""

    table: ClassVar[type[LeasedRow]]
    open_states: ClassVar[tuple[str, ...]]

    def changes_of_claim(self) -> Mapping[str, Any]:
        return {}

    async def claim_chosen(self, chosen: SelectBase, lease_s: float) -> list[Lease]:
        """Claims the rows that `chosen` selects by `project_id` and `id`; skips those that are
        locked, or claimed or closed since. Counts no attempts.
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
        """Raises `LeaseLost` when the row has ended, was deleted, or was claimed again."""
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


WORKER_LOST: Final = "worker_lost"
_CANDIDATES: Final = 4
"""Rows of a project that a claim considers: the first may be locked or exhausted."""


class QueuedRows(LeasedRows):
    table: ClassVar[type[QueuedRow]]
    limit_column: ClassVar[str]
    """Column of a project's own limit on the rows that it holds at the same time."""
    end_states: ClassVar[tuple[str, ...]]
    """States in which a holder leaves a row; a tenant's cancel is none, it stops the holder."""

    async def due(self, limit: int, resend_after_s: float) -> list[str]:
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
        table = self.table
        count = select(func.count()).select_from(table).where(self._is_open(), is_unleased(table))
        return await self._session.scalar(count) or 0

    async def exhausted(self, max_attempts: int) -> list[Lease]:
        table = self.table
        rows = await self._session.execute(
            select(table.id, table.project_id, table.fence, table.attempts)
            .where(self._is_open(), is_unleased(table), table.attempts >= max_attempts)
            .with_for_update(skip_locked=True)
        )
        return [Lease(row.id, row.project_id, row.fence, row.attempts) for row in rows]

    async def fail(self, lease: Lease, message: str, *, kept_for: timedelta | None = None) -> None:
        """Ends an exhausted row with a reason for its tenant; it may expire after `kept_for`."""
        raise NotImplementedError

    def _may_be_claimed_now(self) -> ColumnElement[bool]:
        return or_(self.table.not_before.is_(None), self.table.not_before <= func.now())

    async def claim_next(
        self, owner: str, lease_s: float, *, max_attempts: int, most_held: int
    ) -> Lease | None:
        """Claims the row that is next in the queue. Returns `None` when no row can be claimed, e.g.
        because every project that waits holds `most_held` rows already.
        """
        lock = func.hashtextextended(f"claims of {self._name}", 0)
        await self._session.execute(select(func.pg_advisory_xact_lock(lock)))
        chosen = (await self._session.execute(self._next(max_attempts, most_held))).one_or_none()
        if chosen is None:
            return None
        table = self.table
        claimed = await self._session.execute(
            update(table)
            .where(table.id == chosen.id)
            .values(
                **new_claim(table, lease_s),
                attempts=table.attempts + 1,
                lease_owner=owner,
                virtual_time=chosen.virtual_time,
                not_before=None,
                **self.changes_of_claim(),
            )
            .returning(table.id, table.project_id, table.fence, table.attempts)
        )
        times = {
            "virtual_time": chosen.organization_virtual_time,
            "project_virtual_time": chosen.virtual_time,
        }
        row = {"queue": self._name, "organization_id": chosen.organization_id}
        await self._session.execute(
            insert(OrganizationVirtualTimeTable)
            .values(**row, **times)
            .on_conflict_do_update(index_elements=list(row), set_=times)
        )
        return Lease(*claimed.one())

    async def others_come_first(
        self,
        project_id: str,
        *,
        max_attempts: int,
        most_held: int,
        siblings: bool = True,
        own: bool = False,
    ) -> bool:
        """Returns whether another row should replace one that the project holds: a claimable row of
        an organization that holds nothing, or that holds a smaller share than the project's
        organization would without that row; with `siblings`, of such a project in the same
        organization; with `own`, of the project itself.
        """
        held = (await self._session.execute(self._held_beside(project_id))).one()
        queue = self._queue()
        is_sibling = queue.c.organization_id == held.organization_id
        others = and_(
            not_(is_sibling),
            or_(
                queue.c.organization_running == 0,
                queue.c.organization_share < _share_without_one(held.of_organization, held.weight),
            ),
        )
        of_siblings = and_(
            is_sibling,
            queue.c.project_id != project_id,
            or_(
                queue.c.running == 0,
                queue.c.running / ProjectTable.share_weight
                < _share_without_one(held.of_project, held.share_weight),
            ),
        )
        of_project = queue.c.project_id == project_id
        wanted = [others, *([of_siblings] if siblings else []), *([of_project] if own else [])]
        # The project's limit allows one row more once it has given the held one back.
        running = queue.c.running - case((of_project, 1), else_=0)
        first = self._claimable(queue, max_attempts, most_held, running=running).where(or_(*wanted))
        return (await self._session.execute(first.limit(1))).first() is not None

    def _held_beside(self, project_id: str) -> Select[str, float, float, int, int]:
        table, own = self.table, aliased(ProjectTable)
        held = and_(
            table.project_id == ProjectTable.id, self._is_open(), table.lease_until >= func.now()
        )
        of_own = table.project_id == own.id
        return (
            select(
                own.organization_id,
                own.share_weight,
                OrganizationTable.share_weight.label("weight"),
                func.count(table.id).filter(of_own).label("of_project"),
                func.count(table.id).label("of_organization"),
            )
            .join(OrganizationTable, OrganizationTable.id == own.organization_id)
            .join(ProjectTable, ProjectTable.organization_id == own.organization_id)
            .outerjoin(table, held)
            .where(own.id == project_id)
            .group_by(own.id, OrganizationTable.id)
        )

    async def organizations_of(self, project_ids: Collection[str]) -> dict[str, str]:
        query = select(ProjectTable.id, ProjectTable.organization_id)
        rows = await self._session.execute(query.where(ProjectTable.id.in_(project_ids)))
        return {row.id: row.organization_id for row in rows}

    def _next(self, max_attempts: int, most_held: int) -> Select[Any]:
        queue = self._queue()
        return (
            self._claimable(queue, max_attempts, most_held)
            .order_by(queue.c.organization_share, queue.c.organization_virtual_time, queue.c.place)
            .limit(1)
            .with_for_update(of=self.table, skip_locked=True)
        )

    def _claimable(
        self, queue: Any, max_attempts: int, most_held: int, *, running: Any = None
    ) -> Select[Any]:
        table, own_limit = self.table, getattr(ProjectTable, self.limit_column)
        claimed = "virtual_time", "organization_id", "organization_virtual_time"
        return (
            select(table.id, *(queue.c[name] for name in claimed))
            .join(queue, and_(table.project_id == queue.c.project_id, table.id == queue.c.id))
            .join(ProjectTable, ProjectTable.id == table.project_id)
            .where(
                table.attempts < max_attempts,
                self._is_open(),
                is_unleased(table),
                self._may_be_claimed_now(),
                (queue.c.running if running is None else running)
                < func.coalesce(own_limit, most_held),
            )
        )

    def _queue(self) -> Any:
        texts = [column(name, Text) for name in ("project_id", "id", "organization_id")]
        counts = "running", "organization_running", "place"
        shares = "virtual_time", "organization_share", "organization_virtual_time"
        return getattr(func, f"queue_of_{self._name}")(_CANDIDATES).table_valued(
            *texts,
            *(column(name, BigInteger) for name in counts),
            *(column(name, Float) for name in shares),
        )

    @property
    def _name(self) -> str:
        return self.table.__tablename__  # type: ignore[attr-defined,no-any-return]  # every mapped class has the name

    async def release(self, lease: Lease, *, orderly: bool, back_off: bool) -> int | None:
        """Ends the lease, so that the row can be claimed at once. An `orderly` stop does not count
        as an attempt. With `back_off` the sweeper waits before it sends a notification for the row.

        Returns the attempts that count so far, or `None` when the lease was lost before.
        """
        table = self.table
        changes: dict[str, Any] = ended_lease()
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

    async def ended_by_holder(self, lease: Lease) -> bool:
        ended = is_held(self.table, lease, states=self.end_states)
        return await self._session.scalar(select(self.table.id).where(ended)) is not None

    async def note(
        self, lease: Lease, reason: str, *, code: str, attempts: int, limit: int
    ) -> None:
        """Reports why an attempt was ended, for kinds of rows that have events."""

    async def tell_waiting(self, *, most_held: int) -> None:
        """Tells the owners of rows that no worker takes why, for kinds of rows that have events."""

    async def pause_requested(self, lease: Lease) -> bool:
        del lease
        return False

    async def pause(self, lease: Lease, reason: str) -> None:
        raise NotImplementedError


def _share_without_one(held: int, weight: float) -> float:
    return max(held - 1, 0) / weight
