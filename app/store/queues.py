"""Fair claims: projects take turns at the rows of a table.

Owns the claim of the next row and the limits on what one project holds. The order is an SQL
function, `queue_of_<table>` (migration 0017), which also numbers the places that users see.
Promises: claims of one table are made one after another, so each sees what all earlier ones hold;
the cost grows with the number of projects that wait, not with the number of waiting rows.
"""

from typing import Any, ClassVar, Final

from sqlalchemy import BigInteger, Float, Select, Text, and_, column, func, literal, or_, select
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.store.leases import ClaimableRows, Lease
from app.store.schema.leased import QueuedRow
from app.store.schema.projects import ProjectTable

_CANDIDATES: Final = 4
"""Rows of one project that a claim looks at: more than one, because another transaction may have
locked the first, or it may have used up its attempts.
"""


class QueuedRows(ClaimableRows):
    """Leases of one table whose projects take turns."""

    table: ClassVar[type[QueuedRow]]
    limit_column: ClassVar[str]
    """Column of a project's own limit on the rows that it holds at the same time."""

    async def claim_next(
        self, owner: str, lease_s: float, *, max_attempts: int, most_held: int
    ) -> Lease | None:
        """Claims the row whose turn it is. Returns `None` when no row can be claimed, e.g. because
        every project that waits holds `most_held` rows already.
        """
        await self._session.execute(select(func.pg_advisory_xact_lock(self._lock_number())))
        chosen = (await self._session.execute(self._next(max_attempts, most_held))).one_or_none()
        if chosen is None:
            return None
        return await self._claim(
            chosen.id,
            owner,
            lease_s,
            max_attempts=max_attempts,
            changes={"turn": chosen.turn, "not_before": None},
        )

    async def other_projects_wait(self, project_id: str, *, max_attempts: int) -> bool:
        """Returns whether a project that holds no row waits for one, other than `project_id`."""
        queue, table = self._queue(1), self.table
        waiting = (
            select(literal(1))
            .select_from(queue)
            .join(table, and_(table.project_id == queue.c.project_id, table.id == queue.c.id))
            .where(
                queue.c.project_id != project_id,
                queue.c.running == 0,
                self._is_claimable(max_attempts),
            )
            .limit(1)
        )
        return await self._session.scalar(waiting) is not None

    def _next(self, max_attempts: int, most_held: int) -> Select[Any]:
        """Selects and locks the first row of the order; skips rows that are locked."""
        queue, table = self._queue(_CANDIDATES), self.table
        own_limit = getattr(ProjectTable, self.limit_column)
        return (
            select(table.id, queue.c.turn)
            .join(queue, and_(table.project_id == queue.c.project_id, table.id == queue.c.id))
            .join(ProjectTable, ProjectTable.id == table.project_id)
            .where(
                self._is_claimable(max_attempts),
                queue.c.running < func.coalesce(own_limit, most_held),
            )
            .order_by(queue.c.place)
            .limit(1)
            .with_for_update(of=table, skip_locked=True)
        )

    def _queue(self, depth: int) -> Any:
        function = getattr(func, f"queue_of_{self.table.__tablename__}")  # type: ignore[attr-defined]  # every mapped class has the name
        return function(depth).table_valued(
            column("project_id", Text),
            column("id", Text),
            column("running", BigInteger),
            column("turn", Float),
            column("place", BigInteger),
        )

    def _lock_number(self) -> ColumnElement[int]:
        return func.hashtextextended(f"claims of {self.table.__tablename__}", 0)  # type: ignore[attr-defined]  # every mapped class has the name

    @override
    def _is_due(self) -> ColumnElement[bool]:
        return or_(self.table.not_before.is_(None), self.table.not_before <= func.now())

    @override
    def _is_claimable(self, max_attempts: int) -> ColumnElement[bool]:
        return and_(super()._is_claimable(max_attempts), self._is_due())
