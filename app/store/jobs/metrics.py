"""Stores the points of curves as rows. A replayed step overwrites its own points."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy import Double, Text, and_, func, or_, select
from sqlalchemy import cast as cast_to
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

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
        query = select(Table).where(Table.job_id == job_id)
        if names is not None:
            query = query.where(Table.name.in_(names))
        if split is not None:
            query = query.where(Table.split == split)
        if after_step is not None:
            query = query.where(Table.step > after_step)
        rows = await self._session.scalars(query.order_by(Table.name, Table.split, Table.step))
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
        """Returns points by name, split and step, of each curve those that `thin` would choose. A
        long job has a hundred thousand, which would take half a second of the event loop.
        """
        curve = (Table.name, Table.split)
        rank = func.row_number().over(partition_by=curve, order_by=Table.step) - 1
        last = func.count().over(partition_by=curve) - 1
        query = select(*curve, Table.step, Table.value, rank.label("rank"), last.label("last"))
        query = query.where(Table.job_id == job_id)
        if names is not None:
            query = query.where(Table.name.in_(names))
        if split is not None:
            query = query.where(Table.split == split)
        if after_step is not None:
            query = query.where(Table.step > after_step)
        ranked = query.subquery()
        point = (ranked.c.name, ranked.c.split, ranked.c.step, ranked.c.value)
        chosen = select(*point).where(_is_chosen(ranked.c.rank, ranked.c.last, max_points))
        rows = await self._session.execute(chosen.order_by(*point[:3]))
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


def _is_chosen(
    rank: ColumnElement[int], last: ColumnElement[int], count: int
) -> ColumnElement[bool]:
    """Returns the condition by which `thin` chooses `count` of the items 0 to `last`: those that
    are the nearest to a place `index * last / (count - 1)`. Both round a half to the even number.
    """
    if count == 1:
        return rank == last
    gaps = count - 1
    index = func.round(cast_to(rank * gaps, Double) / func.nullif(last, 0))
    return or_(last < count, rank == func.round(index * last / gaps))


def _to_point(row: Table) -> MetricPoint:
    return MetricPoint(row.name, cast("Split", row.split), row.step, row.value)
