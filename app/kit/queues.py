"""Queues of leased rows: a worker claims the row of the organization and project that is next.

The order is an SQL function, `queue_of_<table>`, and `queue_places` numbers the positions
that users see by the same order.
"""

from collections.abc import Collection
from typing import Any, ClassVar, Final

from sqlalchemy import (
    BigInteger,
    Float,
    Row,
    Select,
    Text,
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
from sqlalchemy.orm import aliased
from sqlalchemy.sql.elements import ColumnElement

from app.accounts.tables import OrganizationTable, ProjectTable
from app.kit.leases import (
    Lease,
    OrganizationVirtualTimeTable,
    WaitingRows,
    ended_lease,
    is_held,
    new_claim,
)

WORKER_LOST: Final = "worker_lost"
"""Code of the error of work whose workers were lost too often."""
_CANDIDATES: Final = 4
"""Number of rows of one project that a claim considers: more than one, because the first may be
locked or may have used up its attempts.
"""


class QueuedRows(WaitingRows):
    """Leases of one table whose rows are claimed in a fair order, a limited number of times."""

    limit_column: ClassVar[str]
    """Column of a project's own limit on the rows that it holds at the same time."""
    end_states: ClassVar[tuple[str, ...]]
    """States in which the holder of a lease leaves a row whose work is done. A cancel by the tenant
    is not one of them: it has to stop the holder.
    """

    async def claim_next(
        self, owner: str, lease_s: float, *, max_attempts: int, most_held: int
    ) -> Lease | None:
        """Claims the row that is next in the queue. Returns `None` when no row can be claimed, e.g.
        because every project that waits holds `most_held` rows already.
        """
        await self._session.execute(select(func.pg_advisory_xact_lock(self._lock_number())))
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
        await self._keep_virtual_times(chosen)
        return Lease(*claimed.one())

    async def _keep_virtual_times(self, chosen: Row[Any]) -> None:
        """Stores the virtual times of the organization that has the claim."""
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
        queue = self._queue(_CANDIDATES)
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
        """Selects the weights of a project and its organization, and how many rows each holds."""
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
        """Returns the organization of each project."""
        query = select(ProjectTable.id, ProjectTable.organization_id)
        rows = await self._session.execute(query.where(ProjectTable.id.in_(project_ids)))
        return {row.id: row.organization_id for row in rows}

    def _next(self, max_attempts: int, most_held: int) -> Select[Any]:
        """Selects and locks the first row that can be claimed, of the first organization with such
        a row; `place` also counts rows that cannot be claimed. Skips rows that are locked.
        """
        queue = self._queue(_CANDIDATES)
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
        return (
            select(
                table.id,
                queue.c.virtual_time,
                queue.c.organization_id,
                queue.c.organization_virtual_time,
            )
            .join(queue, and_(table.project_id == queue.c.project_id, table.id == queue.c.id))
            .join(ProjectTable, ProjectTable.id == table.project_id)
            .where(
                self._is_claimable(max_attempts),
                (queue.c.running if running is None else running)
                < func.coalesce(own_limit, most_held),
            )
        )

    def _queue(self, depth: int) -> Any:
        function = getattr(func, f"queue_of_{self._name}")
        return function(depth).table_valued(
            column("project_id", Text),
            column("id", Text),
            column("running", BigInteger),
            column("virtual_time", Float),
            column("organization_id", Text),
            column("organization_running", BigInteger),
            column("organization_share", Float),
            column("organization_virtual_time", Float),
            column("place", BigInteger),
        )

    def _lock_number(self) -> ColumnElement[int]:
        return func.hashtextextended(f"claims of {self._name}", 0)

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
        """Returns True once the holder of the lease has ended the row: nothing is left to renew."""
        ended = is_held(self.table, lease, states=self.end_states)
        return await self._session.scalar(select(self.table.id).where(ended)) is not None

    async def note(
        self, lease: Lease, reason: str, *, code: str, attempts: int, limit: int
    ) -> None:
        """Reports to the row's tenant why an attempt was ended. Rows of a kind without events
        report nothing; the log has the reason for every kind.
        """

    async def pause_requested(self, lease: Lease) -> bool:
        """Returns True once the tenant has asked the holder of the lease to pause the row."""
        del lease
        return False

    async def pause(self, lease: Lease, reason: str) -> None:
        """Pauses the row for a holder that did not. Raises `LeaseLost`."""
        raise NotImplementedError


def _share_without_one(held: int, weight: float) -> float:
    return max(held - 1, 0) / weight
