"""Stores the points of curves as rows. A replayed step overwrites its own points."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Double,
    Integer,
    Select,
    Subquery,
    Text,
    case,
    false,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.ids import Split
from app.domain.rollouts.metrics import MetricPoint
from app.store.schema.metrics import JobMetricTable as Table

_SENT: Final[Mapping[str, Any]] = {
    "name": Text(),
    "split": Text(),
    "step": Integer(),
    "value": Double(),
}


class MetricStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def upsert(self, job_id: str, points: Sequence[MetricPoint]) -> None:
        """Writes points with finite values. The last of two points with the same key counts."""
        if not points:
            return
        latest = {(point.name, point.split, point.step): point.value for point in points}
        columns = [*zip(*latest, strict=True), latest.values()]
        # One statement, because the trigger that computes the blocks runs once for each.
        sent = (
            func.unnest(
                *(
                    literal(list(values), ARRAY(kind))
                    for values, kind in zip(columns, _SENT.values(), strict=True)
                )
            )
            .table_valued(*_SENT, name="sent")
            .render_derived()
        )
        query = insert(Table).from_select(
            ["project_id", "job_id", *_SENT],
            select(literal(self._project_id), literal(job_id), *sent.c),
        )
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[Table.job_id, Table.name, Table.split, Table.step],
                set_={"value": query.excluded.value},
            )
        )

    async def curve(
        self,
        job_id: str,
        *,
        names: list[str] | None,
        split: Split | None,
        after_step: int | None,
    ) -> list[MetricPoint]:
        """Returns points by name, split and step."""
        query = select(Table).where(*_chosen(job_id, names, split, after_step=after_step))
        rows = await self._session.scalars(query.order_by(Table.name, Table.split, Table.step))
        return [_to_point(row) for row in rows]

    async def batch(
        self,
        job_id: str,
        *,
        names: list[str] | None,
        split: Split | None,
        behind: MetricPoint | None,
        limit: int,
    ) -> list[MetricPoint]:
        """Returns points by name, split and step, from the first one after a point."""
        order = (Table.name, Table.split, Table.step)
        query = select(Table).where(*_chosen(job_id, names, split, after_step=None))
        if behind is not None:
            query = query.where(tuple_(*order) > tuple_(behind.name, behind.split, behind.step))
        rows = await self._session.scalars(query.order_by(*order).limit(limit))
        return [_to_point(row) for row in rows]

    async def thinned(
        self,
        job_id: str,
        *,
        names: list[str] | None,
        split: Split | None,
        after_step: int | None,
        max_points: int,
    ) -> list[MetricPoint]:
        """Returns points by name, split and step, for each curve those that `extremes` chooses. The
        database chooses them, because reading all points of many long curves would block the event
        loop.
        """
        curve = (Table.name, Table.split)
        rank = func.row_number().over(partition_by=curve, order_by=Table.step) - 1
        last = func.count().over(partition_by=curve) - 1
        query = select(*curve, Table.step, Table.value, rank.label("rank"), last.label("last"))
        query = query.where(*_chosen(job_id, names, split, after_step=after_step))
        chosen = _extremes(query.subquery(), max_points)
        rows = await self._session.execute(chosen)
        return [
            MetricPoint(name, cast("Split", own), step, value) for name, own, step, value in rows
        ]

    async def names(self, job_id: str) -> set[str]:
        """Returns the names of the curves that have points."""
        query = select(Table.name).where(Table.job_id == job_id).distinct()
        return set(await self._session.scalars(query))


def _chosen(
    job_id: str, names: list[str] | None, split: Split | None, *, after_step: int | None
) -> list[ColumnElement[bool]]:
    """Returns the conditions of a job's points; `None` sets no limit."""
    conditions: list[ColumnElement[bool]] = [Table.job_id == job_id]
    if names is not None:
        conditions.append(Table.name.in_(names))
    if split is not None:
        conditions.append(Table.split == split)
    if after_step is not None:
        conditions.append(Table.step > after_step)
    return conditions


def _extremes(ranked: Subquery, count: int) -> Select[Any]:
    """Returns the query of the points that `extremes` chooses, from those with their `rank` in the
    curve and that of its `last` one.
    """
    stretches = max((count - 2) // 2, 0)
    rank, last = ranked.c.rank, ranked.c.last
    is_end = or_(rank == last, rank == 0) if count > 1 else rank == last
    between = func.nullif(last - 1, 0, type_=Integer)
    stretch = case((is_end, -1), else_=(rank - 1) * stretches // between)
    marked = select(ranked, is_end.label("is_end"), stretch.label("stretch")).subquery()
    own = (marked.c.name, marked.c.split, marked.c.stretch)
    orders = [(column, marked.c.step) for column in (marked.c.value, marked.c.value.desc())]
    ranks = [func.row_number().over(partition_by=own, order_by=order) for order in orders]
    sorted_points = select(
        marked, ranks[0].label("from_low"), ranks[1].label("from_high")
    ).subquery()
    found = sorted_points.c
    is_extreme = or_(found.from_low == 1, found.from_high == 1) if stretches else false()
    point = (found.name, found.split, found.step, found.value)
    return (
        select(*point).where(or_(found.last < count, found.is_end, is_extreme)).order_by(*point[:3])
    )


def _to_point(row: Table) -> MetricPoint:
    return MetricPoint(row.name, cast("Split", row.split), row.step, row.value)
