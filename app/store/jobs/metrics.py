"""Stores the points of curves as rows. A replayed step overwrites its own points."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Text,
    and_,
    case,
    false,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy import cast as cast_to
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.ids import Split
from app.domain.rollouts.metrics import MetricPoint, PackedCurve
from app.store.schema.metrics import JobMetricTable as Table


class MetricStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def upsert(self, job_id: str, points: Sequence[MetricPoint]) -> None:
        """Writes points with finite values. The last of two points with the same key counts."""
        if not points:
            return
        values = [
            {
                "project_id": self._project_id,
                "job_id": job_id,
                "name": point.name,
                "split": point.split,
                "step": point.step,
                "value": point.value,
            }
            for point in points
        ]
        query = insert(Table)
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[Table.job_id, Table.name, Table.split, Table.step],
                set_={"value": query.excluded.value},
            ),
            values,
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

    async def packed(self, job_id: str, names: Sequence[str] | None = None) -> list[PackedCurve]:
        """Returns curves whole, all of them unless some are named. A long job has hundreds of
        thousands of points.
        """
        query = (
            select(
                Table.name,
                Table.split,
                cast_to(func.json_agg(aggregate_order_by(Table.step, Table.step)), Text),
                cast_to(func.json_agg(aggregate_order_by(Table.value, Table.step)), Text),
            )
            .where(Table.job_id == job_id)
            .group_by(Table.name, Table.split)
            .order_by(Table.name, Table.split)
        )
        if names is not None:
            query = query.where(Table.name.in_(names))
        return [
            PackedCurve(name, cast("Split", split), steps, values)
            for name, split, steps, values in await self._session.execute(query)
        ]

    async def names(self, job_id: str) -> set[str]:
        """Returns the names of the curves that have points."""
        query = select(Table.name).where(Table.job_id == job_id).distinct()
        return set(await self._session.scalars(query))

    async def ends(
        self, job_ids: Sequence[str], names: Sequence[str]
    ) -> dict[str, list[MetricPoint]]:
        """Returns the first and the last point of each curve of these names, by job, name, split
        and step. A curve of one point has it once; a job without points is left out.
        """
        if not job_ids:
            return {}
        curve = (Table.job_id, Table.name, Table.split)
        steps = (
            select(*curve, func.min(Table.step).label("first"), func.max(Table.step).label("last"))
            .where(Table.job_id.in_(job_ids), Table.name.in_(names))
            .group_by(*curve)
            .subquery()
        )
        query = select(Table).join(
            steps,
            and_(
                *(column == steps.c[column.key] for column in curve),
                or_(Table.step == steps.c.first, Table.step == steps.c.last),
            ),
        )
        found: dict[str, list[MetricPoint]] = {}
        for row in await self._session.scalars(query.order_by(*curve, Table.step)):
            found.setdefault(row.job_id, []).append(_to_point(row))
        return found


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
