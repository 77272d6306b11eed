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
    column,
    false,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy import cast as cast_to
from sqlalchemy import values as row_values
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from app.jobs.findings import BLOCK_SIZES, CurveKey, CurveSummary
from app.jobs.stop_rules import Reduction
from app.jobs.tables import JobMetricBlockTable as Block
from app.jobs.tables import JobMetricTable as Point
from app.kit.ids import Split
from app.kit.sql import ProjectRows, SessionRows
from app.rollouts.metrics import MetricPoint, PackedCurve

_SENT: Final[Mapping[str, Any]] = {
    "name": Text(),
    "split": Text(),
    "step": Integer(),
    "value": Double(),
}


class MetricStore(ProjectRows):
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
        query = insert(Point).from_select(
            ["project_id", "job_id", *_SENT],
            select(literal(self._project_id), literal(job_id), *sent.c),
        )
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[Point.job_id, Point.name, Point.split, Point.step],
                set_={"value": query.excluded.value},
            )
        )

    async def curve(
        self, job_id: str, *, names: list[str] | None, split: Split | None, after_step: int | None
    ) -> list[MetricPoint]:
        query = select(Point).where(*_chosen(job_id, names, split, after_step=after_step))
        rows = await self._session.scalars(query.order_by(Point.name, Point.split, Point.step))
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
        order = (Point.name, Point.split, Point.step)
        query = select(Point).where(*_chosen(job_id, names, split, after_step=None))
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
        """Returns the points that `extremes` chooses, in the database: long curves would block."""
        curve = (Point.name, Point.split)
        rank = func.row_number().over(partition_by=curve, order_by=Point.step) - 1
        last = func.count().over(partition_by=curve) - 1
        query = select(*curve, Point.step, Point.value, rank.label("rank"), last.label("last"))
        query = query.where(*_chosen(job_id, names, split, after_step=after_step))
        chosen = _extremes(query.subquery(), max_points)
        rows = await self._session.execute(chosen)
        return [
            MetricPoint(name, cast("Split", own), step, value) for name, own, step, value in rows
        ]

    async def names(self, job_id: str) -> set[str]:
        query = select(Point.name).where(Point.job_id == job_id).distinct()
        return set(await self._session.scalars(query))


def _chosen(
    job_id: str, names: list[str] | None, split: Split | None, *, after_step: int | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [Point.job_id == job_id]
    if names is not None:
        conditions.append(Point.name.in_(names))
    if split is not None:
        conditions.append(Point.split == split)
    if after_step is not None:
        conditions.append(Point.step > after_step)
    return conditions


def _extremes(ranked: Subquery, count: int) -> Select[Any]:
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


def _to_point(row: Point) -> MetricPoint:
    return MetricPoint(row.name, cast("Split", row.split), row.step, row.value)


_MOST: Final = 1e200
_CURVE: Final = (Block.job_id, Block.name, Block.split)


class OutlineStore(SessionRows):
    async def summaries(
        self, job_ids: Sequence[str], names: Sequence[str] | None = None
    ) -> list[CurveSummary]:
        ends = [
            func.array_agg(aggregate_order_by(value, order), type_=ARRAY(value.type))[1]
            for order, values in (
                (Block.block.asc(), (Block.first_step, Block.first)),
                (Block.block.desc(), (Block.last_step, Block.last)),
            )
            for value in values
        ]
        query = (
            select(*_CURVE, func.sum(Block.points), func.sum(Block.total), *ends)
            .where(Block.job_id.in_(job_ids), Block.size == BLOCK_SIZES[-1])
            .group_by(*_CURVE)
            .order_by(*_CURVE)
        )
        if names is not None:
            query = query.where(Block.name.in_(names))
        return [_summary(row) for row in await self._session.execute(query)]

    async def outlines(
        self, job_id: str, curves: Sequence[CurveKey], *, size: int
    ) -> list[PackedCurve]:
        steps, values = (_joined(*columns) for columns in _DRAWN)
        query = (
            select(Block.name, Block.split, steps, values)
            .where(
                Block.job_id == job_id,
                Block.size == size,
                tuple_(Block.name, Block.split).in_(curves),
            )
            .group_by(Block.name, Block.split)
            .order_by(Block.name, Block.split)
        )
        return await self._read(query, every=size) if curves else []

    async def whole(self, job_id: str, curves: Sequence[CurveKey]) -> list[PackedCurve]:
        query = _packed((Point.name, Point.split), Point.step, Point.value).where(
            Point.job_id == job_id, tuple_(Point.name, Point.split).in_(curves)
        )
        return await self._read(query) if curves else []

    async def edges(
        self, job_id: str, curves: Sequence[CurveKey], *, count: int
    ) -> list[PackedCurve]:
        if not curves:
            return []
        wanted = row_values(column("name", Text), column("split", Text), name="wanted").data(
            list(curves)
        )
        ends = (
            select(Point.step, Point.value)
            .where(
                Point.job_id == job_id, Point.name == wanted.c.name, Point.split == wanted.c.split
            )
            .correlate(wanted)
            .order_by(order)
            .limit(count)
            .subquery()
            for order in (Point.step.asc(), Point.step.desc())
        )
        edge = union_all(*(select(end) for end in ends)).lateral("edge")
        query = (
            _packed((wanted.c.name, wanted.c.split), edge.c.step, edge.c.value)
            .select_from(wanted)
            .join(edge, true())
        )
        return await self._read(query)

    async def steps(self, job_id: str, curve: CurveKey) -> list[int]:
        query = select(Point.step).where(
            Point.job_id == job_id, tuple_(Point.name, Point.split) == curve
        )
        return list(await self._session.scalars(query.order_by(Point.step)))

    async def between(
        self, job_id: str, steps: Sequence[int], reductions: Mapping[str, Reduction]
    ) -> list[PackedCurve]:
        """Returns a value per sorted step, over the points since the one before, if any."""
        if not steps or not reductions:
            return []
        bounds = literal([step + 1 for step in steps], ARRAY(Integer))
        # Postgres takes an element of a function's value, and none of a bare parameter.
        ends = func.coalesce(literal(list(steps), ARRAY(Integer)), type_=ARRAY(Integer))
        interval = func.width_bucket(Point.step, bounds, type_=Integer)
        # A sum of doubles that overflows is an error: each is limited.
        limited = func.greatest(func.least(Point.value, _MOST), -_MOST)
        sums = (
            select(
                Point.name,
                ends[interval + 1].label("step"),
                func.avg(limited).label("mean"),
                func.min(Point.value).label("lowest"),
                func.max(Point.value).label("highest"),
            )
            .where(
                Point.job_id == job_id,
                Point.split == "train",
                Point.name.in_(reductions),
                Point.step <= steps[-1],
            )
            .group_by(Point.name, interval)
            .subquery()
        )
        found: list[PackedCurve] = []
        for name, reduction in reductions.items():
            query = _packed((sums.c.name, literal("train")), sums.c.step, sums.c[reduction])
            found += await self._read(query.where(sums.c.name == name))
        return found

    async def _read(self, query: Select[Any], *, every: int = 1) -> list[PackedCurve]:
        return [
            PackedCurve(name, cast("Split", split), steps, values, every)
            for name, split, steps, values in await self._session.execute(query)
        ]


_DRAWN: Final = (
    (Block.low_step, Block.high_step, Block.last_step),
    (Block.low, Block.high, Block.last),
)


def _joined(*columns: Any) -> Any:
    """Selects columns, row after row, as the text of one JSON list: faster than an aggregate."""
    row = func.concat_ws(",", *columns)
    return func.concat("[", func.string_agg(row, literal(",")), "]", type_=Text)


def _summary(row: Any) -> CurveSummary:
    job_id, name, split, points, total, first_step, first, last_step, last = row
    return CurveSummary(
        job_id,
        name,
        split,
        points,
        total,
        first=MetricPoint(name, split, first_step, first),
        last=MetricPoint(name, split, last_step, last),
    )


def _packed(curve: tuple[Any, Any], step: Any, value: Any) -> Select[Any]:
    return (
        select(*curve, *(cast_to(func.json_agg(one), Text) for one in (step, value)))
        .group_by(*curve)
        .order_by(*curve)
    )
